"""When a failed request is repeated, and after which wait.

Pure functions over what came back. How a fault is recognised is `client.classify`'s question; the
waiting itself is done in `client.openai`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any

from fc_eval.records.codec import JsonValue

LONGEST_WAIT_S = 60.0
LONGEST_BACKOFF_S = 30.0
FIRST_BACKOFF_S = 1.0
TRIES_AFTER_TIMEOUT = 2

Random = Callable[[], float]
"""Random numbers from 0 to 1, such as `random.Random(7).random`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """How long a server asks to wait, in seconds, and what says so."""

    seconds: float
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What follows a failed try: a repeat after `wait_s`, or the end where that is None.

    `reason` says why it is the end, for the error's text. `limited` is true where the server asked
    for a longer wait than one that is worth while.
    """

    wait_s: float | None
    hint: Hint | None = None
    reason: str = ""
    limited: bool = False


def plan_repeat(
    *,
    number: int,
    retries: int,
    repeatable: bool,
    timed_out: bool,
    hint: Hint | None,
    headers: Mapping[str, str],
    time_left_s: float,
    random: Random,
) -> Plan:
    """Decide what follows try *number* of one request.

    Args:
        number: The failed try, from 1.
        retries: Repeats after the first try.
        repeatable: Whether the fault is one that may pass.
        timed_out: Whether any try of this request ended in a time-out.
        hint: What the server says of the wait.
        headers: The answer's headers, with lower-case names.
        time_left_s: Seconds until the request's or the case's deadline.
        random: Where jitter comes from.

    Source:
        The retry policy: tries, backoff, hints, caps and deadlines.
    """
    if not repeatable:
        return Plan(wait_s=None)
    if headers.get("x-should-retry", "").strip().lower() == "false":
        return Plan(wait_s=None, reason="the server says not to repeat it")
    if hint is not None and hint.seconds > LONGEST_WAIT_S:
        return Plan(
            wait_s=None,
            hint=hint,
            reason=f"the server asks to wait {hint.seconds:.0f} s ({hint.source})",
            limited=True,
        )
    tries = 1 + retries
    if timed_out:
        tries = min(tries, TRIES_AFTER_TIMEOUT)
    if number >= tries:
        return Plan(wait_s=None, hint=hint, reason=f"{number} of {tries} tries failed")
    wait_s = _wait(number, hint, random)
    if wait_s >= time_left_s:
        return Plan(wait_s=None, hint=hint, reason="the next try would begin after the deadline")
    return Plan(wait_s=wait_s, hint=hint)


def _wait(number: int, hint: Hint | None, random: Random) -> float:
    if hint is not None:
        return min(hint.seconds + random(), LONGEST_WAIT_S)
    backoff = min(LONGEST_BACKOFF_S, FIRST_BACKOFF_S * 2.0 ** (number - 1))
    return backoff * (0.5 + 0.5 * random())


def parse_hint(headers: Mapping[str, str], body: JsonValue, *, now: float) -> Hint | None:
    """How long the server asks to wait, or None where it does not say.

    Args:
        headers: With lower-case names.
        body: The decoded body, or its text where it is no JSON.
        now: Seconds since 1970 by the local clock.
    """
    milliseconds = _plain_number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return Hint(seconds=milliseconds / 1000, source="retry-after-ms")
    after = headers.get("retry-after")
    seconds = _plain_number(after)
    if seconds is not None:
        return Hint(seconds=seconds, source="retry-after")
    date = _http_date(after)
    if date is not None:
        # A date that has passed says nothing: neither a wait, nor that other hints hold.
        return Hint(seconds=date - now, source="retry-after date") if date > now else None
    found = [*_reset_headers(headers, now=now), *_body_hints(body, now=now)]
    return max(found, key=lambda hint: hint.seconds, default=None)


_NUMBER = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,9})?")
_DURATION = re.compile(
    r"(?:(?P<h>[0-9]+(?:\.[0-9]+)?)h)?(?:(?P<m>[0-9]+(?:\.[0-9]+)?)m(?!s))?"
    r"(?:(?P<s>[0-9]+(?:\.[0-9]+)?)s)?(?:(?P<ms>[0-9]+(?:\.[0-9]+)?)ms)?"
)
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_DAY_NAME = re.compile(r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)", re.IGNORECASE)


def _plain_number(text: str | None) -> float | None:
    text = (text or "").strip()
    return float(text) if _NUMBER.fullmatch(text) else None


def _http_date(text: str | None) -> float | None:
    text = (text or "").strip()
    if not _DAY_NAME.match(text):
        return None
    try:
        moment = parsedate_to_datetime(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def parse_duration(text: str) -> float | None:
    """Seconds of a text such as `1s`, `6m0s`, `250ms`, `1h2m`; None for any other text."""
    text = text.strip()
    match = _DURATION.fullmatch(text)
    if match is None or not text:
        return None
    return math.fsum(float(match[unit]) * size for unit, size in _UNITS.items() if match[unit])


def _moment(text: str, *, now: float) -> float | None:
    """Seconds from now of a duration, a number of seconds, or an epoch in either unit."""
    number = _plain_number(text)
    if number is None:
        return parse_duration(text)
    if number > 1e11:
        return number / 1000 - now
    return number - now if number > 1e9 else number


def _reset_headers(headers: Mapping[str, str], *, now: float) -> list[Hint]:
    found = []
    for name, value in headers.items():
        kind = name.removeprefix("x-ratelimit-reset")
        if kind == name or _plain_number(headers.get(f"x-ratelimit-remaining{kind}")) != 0:
            continue
        seconds = _moment(value, now=now)
        if seconds is not None and seconds > 0:
            found.append(Hint(seconds=seconds, source=name))
    return found


def _body_hints(body: JsonValue, *, now: float) -> list[Hint]:
    found = []
    for error in _error_objects(body):
        for detail in _dicts(error.get("details")):
            found.append((parse_duration(str(detail.get("retryDelay", ""))), "retryDelay"))
        found.append((_metadata_reset(error, now=now), "X-RateLimit-Reset in the body"))
        found.append((_text_wait(error.get("message")), "text"))
    if not isinstance(body, dict | list):
        found.append((_text_wait(body), "text"))
    return [Hint(seconds=seconds, source=source) for seconds, source in found if seconds]


def _error_objects(body: JsonValue) -> list[Mapping[str, Any]]:
    """Every object that may tell of an error: the body itself, what it lists, what it wraps."""
    outer = _dicts(body) if isinstance(body, list) else _dicts([body])
    inner = []
    for item in outer:
        error = item.get("error")
        inner += _dicts([error]) if isinstance(error, dict) else _dicts([{"message": error}])
    return [*outer, *inner]


def _dicts(value: JsonValue) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _metadata_reset(error: Mapping[str, Any], *, now: float) -> float | None:
    metadata = error.get("metadata")
    headers = metadata.get("headers") if isinstance(metadata, dict) else None
    if not isinstance(headers, dict):
        return None
    named = {str(name).lower(): str(value) for name, value in headers.items()}
    if _plain_number(named.get("x-ratelimit-remaining", "0")) != 0:
        return None
    seconds = _moment(named.get("x-ratelimit-reset", ""), now=now)
    return seconds if seconds is not None and seconds > 0 else None


_TEXT_CHARS = 2000
_TEXT_WAIT = re.compile(
    r"(?:try again|retry(?:ing)?|available|wait)\s+(?:after|in|at least|for)?\s*"
    r"(?P<number>[0-9]+(?:\.[0-9]+)?)\s*(?P<rest>[a-z0-9.]*)",
    re.IGNORECASE,
)
_WORD_UNITS = (
    ("day", 86400.0),
    ("hour", 3600.0),
    ("min", 60.0),
    ("milli", 0.001),
    ("sec", 1.0),
)


def _text_wait(text: JsonValue) -> float | None:
    match = _TEXT_WAIT.search(text[:_TEXT_CHARS]) if isinstance(text, str) else None
    if match is None:
        return None
    number, unit = match["number"], match["rest"].rstrip(".").lower()
    seconds = parse_duration(number + unit)
    if seconds is not None:
        return seconds
    return next((float(number) * size for name, size in _WORD_UNITS if unit.startswith(name)), None)
