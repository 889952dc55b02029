"""Clients that reach a model, and which one a profile asks for.

`open_client` picks: the embedded agent behind a transport, a model file served on loopback, or an
endpoint over HTTP. Nothing is sent before a case asks, but for the wait until a server is ready.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fc_eval.agent.profile import EndpointClass, ModelProfile
from fc_eval.client.keys import find_key as find_key
from fc_eval.client.keys import secrets_of as secrets_of
from fc_eval.client.redact import Secret, redacted_logs
from fc_eval.errors import ConfigError

if TYPE_CHECKING:
    from fc_eval.client.openai import OpenAIClient, Timing

EMBEDDED_URL = "http://embedded.invalid/v1"
EMBEDDED_AGENTS = ("rules-v1",)

_READY_PAUSE_S = 0.5
_READY_TRY_S = 5.0


def check_reach(profile: ModelProfile, environ: Mapping[str, str], *, root: Path) -> None:
    """Refuse a profile whose key or local model is missing, before the first case asks for it.

    Raises:
        ConfigError: A key is not set, or a model file or the engine for it is not there.
    """
    find_key(profile, environ)
    if profile.gguf is not None:
        from fc_eval.client.local import check_engine, find_model

        check_engine()
        find_model(profile.gguf, root=root)


@asynccontextmanager
async def open_client(
    profile: ModelProfile,
    environ: Mapping[str, str],
    *,
    root: Path | None = None,
    timing: Timing | None = None,
) -> AsyncIterator[OpenAIClient]:
    """A client for *profile*, for as long as the context is open.

    All requests of one client share a gate, so a session opens one.

    Args:
        profile: Which model, and where.
        environ: Where its key is.
        root: Where a relative path of a model file starts.
        timing: Clock, sleep and random numbers; the machine's where none is given.

    Raises:
        ConfigError: A key is missing, or the model can't be had.
    """
    key = find_key(profile, environ)
    if profile.endpoint_class is EndpointClass.EMBEDDED:
        async with _http(profile, transport=_embedded(profile)) as http:
            yield _client(http, profile, EMBEDDED_URL, None, timing)
    elif profile.endpoint_class is EndpointClass.LOCAL:
        from fc_eval.client.local import serve

        async with serve(profile, root=root) as base_url, _http(profile) as http:
            yield _client(http, profile, base_url, None, timing)
    else:
        base_url = profile.base_url or ""
        async with _http(profile) as http:
            client = _client(http, profile, base_url, key, timing)
            with redacted_logs(client.redactor):
                await _until_ready(http, client, profile)
                yield client


def _client(
    http: Any, profile: ModelProfile, base_url: str, key: Secret | None, timing: Timing | None
) -> OpenAIClient:
    from fc_eval.client.openai import OpenAIClient

    return OpenAIClient(http, profile, base_url=base_url, key=key, timing=timing)


def _http(profile: ModelProfile, *, transport: Any = None) -> Any:
    import httpx

    return httpx.AsyncClient(
        transport=transport,
        # A try has one deadline for all of it; only connecting has a limit of its own.
        timeout=httpx.Timeout(None, connect=profile.connect_timeout_s),
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=64),
        follow_redirects=False,
        # A proxy of the environment is for the world outside, not for a server on this machine.
        trust_env=profile.endpoint_class is EndpointClass.REMOTE,
    )


def _embedded(profile: ModelProfile) -> Any:
    from urllib.parse import urlsplit

    name = urlsplit(profile.base_url or "").netloc
    if name not in EMBEDDED_AGENTS:
        raise ConfigError(
            f"there is no embedded agent {name!r}",
            fix=f'write base_url = "embedded://{EMBEDDED_AGENTS[0]}"',
        )
    from fc_eval.client.embedded import EmbeddedTransport

    return EmbeddedTransport()


async def _until_ready(http: Any, client: OpenAIClient, profile: ModelProfile) -> None:
    """Wait while a server loads its model, at most `ready_timeout_s`; the cases find out more."""
    import httpx

    from fc_eval.client.openai import models_url

    loop = asyncio.get_running_loop()
    end = loop.time() + profile.ready_timeout_s
    url = models_url(profile.base_url or "")
    while loop.time() < end:
        try:
            answer = await http.get(url, headers=client.headers, timeout=_READY_TRY_S)
            if answer.status_code != 503:
                return
        except (httpx.HTTPError, OSError):
            pass
        await asyncio.sleep(_READY_PAUSE_S)
