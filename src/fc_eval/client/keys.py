"""Where secrets are: the key of a profile, and everything else that must not reach a record."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from urllib.parse import unquote, urlsplit

from fc_eval.agent.profile import EndpointClass, ModelProfile, secret_query_values
from fc_eval.client.redact import Secret
from fc_eval.errors import ConfigError

PLACE_OF_KEYS = ".env, or the environment"


def find_key(profile: ModelProfile, environ: Mapping[str, str]) -> Secret | None:
    """The profile's key, or None where it needs none.

    Args:
        profile: Names the variable in `api_key_env`.
        environ: The environment, with what `.env` adds.

    Raises:
        ConfigError: The variable is not set, empty, or holds what no header can carry.
    """
    name = profile.api_key_env
    if name is None or profile.endpoint_class in (EndpointClass.EMBEDDED, EndpointClass.LOCAL):
        return None
    value = environ.get(name, "").strip()
    where = f"[tool.fc_eval.models.{profile.name}]"
    if not value:
        raise ConfigError(
            f"{where} needs a key, and the variable {name} is not set",
            fix=f"set {name} in {PLACE_OF_KEYS}",
        )
    if not (value.isascii() and value.isprintable()):
        raise ConfigError(
            f"the key in the variable {name} has characters that no header can carry",
            fix=f"copy it again into {PLACE_OF_KEYS}",
        )
    return Secret(value)


# Headers whose values say what a client is, and stand in texts by chance, such as a date.
_OPEN_HEADERS = re.compile(
    r"accept.*|content-type|user-agent|(?:http-)?referer|x-title|.*-(?:version|beta)"
)


def profile_secrets(profile: ModelProfile, base_url: str, key: Secret | None) -> list[str]:
    """Every value that must not reach a record: the key, header values, parts of the base URL."""
    known = [key.reveal()] if key is not None else []
    for name, value in profile.extra_headers.items():
        if not _OPEN_HEADERS.fullmatch(name.lower()):
            known += [value, value.partition(" ")[2]]
    user = userinfo(base_url)
    raw_user = urlsplit(base_url).netloc.rpartition("@")[0]
    query = secret_query_values(base_url)
    return [*known, user, raw_user, user.partition(":")[2], *query, *map(unquote, query)]


def secrets_of(environ: Mapping[str, str], profiles: Iterable[ModelProfile]) -> list[str]:
    """The secrets of all *profiles*, of which only one may be in use.

    Args:
        environ: The environment, with what `.env` adds.
        profiles: Name the variables of their keys.
    """
    secrets = []
    for profile in profiles:
        value = environ.get(profile.api_key_env or "", "").strip()
        key = Secret(value) if value else None
        secrets += profile_secrets(profile, profile.base_url or "", key)
    return secrets


def userinfo(base_url: str) -> str:
    """User name and password of a URL, as `user:password`; empty where it has none."""
    return unquote(urlsplit(base_url).netloc.rpartition("@")[0])
