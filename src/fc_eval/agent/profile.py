"""`ModelProfile`: everything about a model that is frozen for a run.

Profiles stand under `[tool.fc_eval.models.NAME]` in pyproject.toml. This module turns such a table
into a profile and says what of it is bound by a hash; where keys come from is the glue's business.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, Literal
from urllib.parse import urlsplit, urlunsplit

from fc_eval.agent.schemas import PROFILES
from fc_eval.errors import ConfigError
from fc_eval.records.codec import JsonValue, digest, from_plain

EMBEDDED_SCHEME = "embedded"

_ABOVE_ZERO = (
    "timeout_s",
    "connect_timeout_s",
    "max_steps",
    "max_tokens",
    "request_deadline_s",
    "case_deadline_s",
)


class ToolMode(StrEnum):
    """How tools are shown to the model, and calls read from it."""

    NATIVE = "native"
    """The `tools` field and `tool_calls`."""
    PROMPT = "prompt"
    """Tool documents in the system prompt, calls as text."""


class EndpointClass(StrEnum):
    """Where the model runs, as far as consent is concerned."""

    EMBEDDED = "embedded"
    LOCAL = "local"
    LOOPBACK = "loopback"
    REMOTE = "remote"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelProfile:
    """One model as a run uses it.

    `temperature` is a number, or "omit" where none shall be sent. `timeout_s` holds for one try
    of one request, `request_deadline_s` for a request with its repeats and waits,
    `case_deadline_s` for a case. `retries` is the number of repeats after the first try, where
    the fault is one that may be repeated. `gguf` is a model file, or `package:resource`, that is
    served on loopback for the session. `extra_body` is sent as it is.
    """

    name: str
    slug: str
    base_url: str | None = field(default=None, repr=False)
    api_key_env: str | None = None
    temperature: float | Literal["omit"] = 0.0
    max_tokens: int | None = None
    timeout_s: float = 120.0
    max_steps: int = 8
    tool_mode: ToolMode = ToolMode.NATIVE
    prompt_format: str = "json"
    schema_profile: str | None = None
    extra_body: Mapping[str, JsonValue] = field(default_factory=dict)
    extra_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    gguf: str | None = None
    baseline: str | None = None
    retries: int = 3
    connect_timeout_s: float = 10.0
    request_deadline_s: float = 600.0
    case_deadline_s: float = 900.0
    ready_timeout_s: float = 0.0
    echo_reasoning: bool = True

    @property
    def endpoint_class(self) -> EndpointClass:
        """Embedded, a local file, loopback, or remote."""
        if self.gguf is not None:
            return EndpointClass.LOCAL
        parts = urlsplit(self.base_url or "")
        if parts.scheme == EMBEDDED_SCHEME:
            return EndpointClass.EMBEDDED
        return EndpointClass.LOOPBACK if _is_loopback(parts.hostname) else EndpointClass.REMOTE

    def public(self) -> dict[str, JsonValue]:
        """The profile for an artifact: no key, no header values, no secret in the URL."""
        plain = {
            item.name: getattr(self, item.name)
            for item in fields(self)
            if item.name not in ("baseline",)
        }
        plain["tool_mode"] = self.tool_mode.value
        plain["base_url"] = _without_secrets(self.base_url)
        plain["extra_body"] = dict(self.extra_body)
        plain["extra_headers"] = sorted(self.extra_headers)
        plain["endpoint_class"] = self.endpoint_class.value
        return plain

    @property
    def digest(self) -> str:
        """SHA-256 of what shapes requests; a loopback port, names and keys are left out."""
        plain = self.public()
        for name in ("name", "api_key_env"):
            del plain[name]
        if self.endpoint_class is EndpointClass.LOOPBACK:
            parts = urlsplit(str(plain["base_url"]))
            plain["base_url"] = urlunsplit((parts.scheme, "loopback", parts.path, "", ""))
        return digest(plain)


def parse_profile(name: str, table: Mapping[str, Any], *, path: str) -> ModelProfile:
    """Read the table `[tool.fc_eval.models.NAME]`.

    Args:
        name: NAME.
        table: The table's values.
        path: The file that the table stands in, for error texts.

    Raises:
        ConfigError: A key is unknown, or a value can't be used.
    """
    where = f"[tool.fc_eval.models.{name}]"
    known = {item.name for item in fields(ModelProfile)} - {"name"}
    unknown = sorted(set(table) - known)
    if unknown:
        raise ConfigError(
            f"{where} has an unknown key {unknown[0]!r}",
            path=path,
            fix=f"use one of: {', '.join(sorted(known))}",
        )
    try:
        profile = from_plain(ModelProfile, {"slug": name, **table, "name": name})
    except ValueError as error:
        raise ConfigError(f"{where}: {error}", path=path, fix="correct the value") from None
    if profile.base_url is None and profile.gguf is None:
        raise ConfigError(
            f"{where} has neither base_url nor gguf",
            path=path,
            fix='add base_url = "https://.../v1", or gguf = "path or package:resource"',
        )
    _check_values(profile, where, path)
    return profile


def _check_values(profile: ModelProfile, where: str, path: str) -> None:
    for limit in _ABOVE_ZERO:
        value = getattr(profile, limit)
        if value is not None and value <= 0:
            raise ConfigError(
                f"{where}: {limit} is {value}", path=path, fix="write a number above 0"
            )
    if profile.retries < 0:
        raise ConfigError(
            f"{where}: retries is {profile.retries}", path=path, fix="write 0 or more"
        )
    if profile.base_url is not None and not _is_reachable(profile.base_url):
        raise ConfigError(
            f"{where}: base_url is no URL of an endpoint",
            path=path,
            fix='write base_url = "https://.../v1"',
        )
    if profile.schema_profile not in (None, *PROFILES):
        raise ConfigError(
            f"{where}: there is no schema_profile {profile.schema_profile!r}",
            path=path,
            fix=f"use one of: {', '.join(PROFILES)}; or leave it out",
        )


def _is_reachable(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https", EMBEDDED_SCHEME) and bool(parts.hostname)


def _is_loopback(host: str | None) -> bool:
    if host is None:
        return False
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


_SECRET_PARAMETER = re.compile(r"key|token|secret|pass|sig|auth|credential", re.IGNORECASE)
_MASK = "***"


def secret_query_values(url: str) -> list[str]:
    """The values of a URL's query whose names say that they are secrets, as they are written."""
    pairs = (part.partition("=") for part in urlsplit(url).query.split("&"))
    return [value for name, _, value in pairs if value and _SECRET_PARAMETER.search(name)]


def _without_secrets(url: str | None) -> str | None:
    if url is None:
        return None
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    query = parts.query
    for value in secret_query_values(url):
        query = query.replace(f"={value}", f"={_MASK}")
    return urlunsplit((parts.scheme, host, parts.path, query, ""))
