"""Secrets out of everything that is kept: bodies, headers, error texts.

An endpoint may echo what it was sent, plain or in another spelling. A `Redactor` knows each secret
in the spellings that are usual on the wire: JSON escapes at any depth, percent signs, base64.
It works on bytes before anything is parsed, so that nothing behind it ever sees a secret.
"""

from __future__ import annotations

import base64
import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from fc_eval.records.codec import JsonValue

MARK = "[redacted]"

SHORTEST = 6
"""Shorter values, such as a local server's key `x`, are no secrets and would garble every text."""

_HTTP_LOGGERS = ("httpx", "httpcore.connection", "httpcore.http11", "httpcore.proxy")

_SECRET_HEADERS = frozenset(
    {
        "api-key",
        "authorization",
        "cookie",
        "proxy-authenticate",
        "proxy-authorization",
        "set-cookie",
        "set-cookie2",
        "x-api-key",
        "x-auth-token",
        "x-goog-api-key",
    }
)


class Secret:
    """A value that shows itself only where it is asked to."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The value itself, for the wire and nothing else."""
        return self._value

    def __repr__(self) -> str:
        return "Secret(...)"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash((Secret, self._value))

    def __reduce__(self) -> str:
        raise TypeError("a secret does not travel")


class Redactor:
    """Replaces the given secrets, in every usual spelling, by `MARK`."""

    def __init__(self, secrets: Iterable[str]) -> None:
        known = sorted({text for text in secrets if len(text) >= SHORTEST}, key=len, reverse=True)
        spellings = [form for secret in known for form in _spellings(secret)]
        self._pattern = re.compile("|".join(spellings)) if spellings else None

    def text(self, text: str) -> str:
        """*text* without secrets."""
        if self._pattern is None:
            return text
        return self._pattern.sub(MARK, text)

    def data(self, data: bytes) -> bytes:
        """*data* without secrets; it need not be text of any encoding."""
        if self._pattern is None:
            return data
        # One character a byte: bytes that are no secret come back as they were.
        return self._pattern.sub(MARK, data.decode("latin-1")).encode("latin-1")

    def value(self, value: JsonValue) -> JsonValue:
        """A JSON value without secrets, in keys and strings at any depth."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.value(item) for key, item in value.items()}
        return value

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Headers with lower-case names, without those that carry secrets by their name."""
        return {
            name.lower(): self.text(value)
            for name, value in headers.items()
            if name.lower() not in _SECRET_HEADERS
        }


class _LogFilter(logging.Filter):
    """Rewrites log records without secrets."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def filter(self, record: logging.LogRecord) -> bool:
        """Let the record pass, its text without secrets."""
        record.msg, record.args = self._redactor.text(record.getMessage()), ()
        return True


@contextmanager
def redacted_logs(redactor: Redactor) -> Iterator[None]:
    """Keep secrets out of what the HTTP library logs, such as a URL with a key in its query."""
    log_filter = _LogFilter(redactor)
    loggers = [logging.getLogger(name) for name in _HTTP_LOGGERS]
    for logger in loggers:
        logger.addFilter(log_filter)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(log_filter)


def _spellings(secret: str) -> list[str]:
    forms = ["".join(map(_character, secret))]
    as_bytes = secret.encode("utf-8", "surrogatepass")
    if not secret.isascii():
        forms.append("".join(map(_character, as_bytes.decode("latin-1"))))
    return forms + [re.escape(part) for part in _base64_parts(as_bytes)]


def _character(character: str) -> str:
    """One character plain, as a JSON escape at any depth, or with a percent sign."""
    options = [re.escape(character), _json_escapes(character)]
    options.append("".join(f"%(?i:{byte:02x})" for byte in character.encode("utf-8", "replace")))
    if character in '"\\/':
        options.append(rf"\\{{1,8}}{re.escape(character)}")
    return f"(?:{'|'.join(options)})"


def _json_escapes(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    pairs = zip(units[::2], units[1::2], strict=True)
    return "".join(rf"\\{{1,8}}u(?i:{high:02x}{low:02x})" for high, low in pairs)


def _base64_parts(data: bytes) -> set[str]:
    """What of base64 text shows *data*, wherever in the encoded bytes it starts."""
    parts: set[str] = set()
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + data).decode("ascii").rstrip("=")
        # The first characters mix with what stands before, the last with what follows.
        start = -(-shift * 8 // 6)
        end = len(encoded) if (shift + len(data)) % 3 == 0 else len(encoded) - 1
        part = encoded[start:end]
        if len(part) >= SHORTEST:
            parts |= {part, part.replace("+", "-").replace("/", "_")}
    return parts
