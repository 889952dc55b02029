"""Read JSON text strictly: what two readers could read differently is an error.

Python's `json` keeps the last of two equal keys, accepts NaN, reads 1e999 as infinity and lets half
a surrogate pair through. A case or a tool that says such a thing is a slip, and is refused here.
"""

from __future__ import annotations

import json
from typing import Any, Final, NoReturn

from fc_eval.records.codec import JsonValue

MAX_DEPTH: Final = 100
"""Levels of nesting; what lies deeper is a slip, and would end in a RecursionError elsewhere."""


_TOO_DEEP: Final = f"nested deeper than {MAX_DEPTH} levels"


class StrictJsonError(ValueError):
    """A text is no strict JSON; `line` counts from 1, and is None where it is not known."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line


def parse_strict(text: str) -> JsonValue:
    """The JSON value that *text* holds.

    Raises:
        StrictJsonError: The text is no JSON, or repeats a key, or holds a number that JSON does
            not have, half a surrogate pair, or a nesting that nobody meant.
    """
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise StrictJsonError(f"{error.msg} at column {error.colno}", error.lineno) from None
    except StrictJsonError:
        raise
    except RecursionError:
        raise StrictJsonError(_TOO_DEEP) from None
    except ValueError as error:  # an integer of thousands of digits
        raise StrictJsonError(str(error)) from None
    if text.count("[") + text.count("{") > MAX_DEPTH and _too_deep(value):
        raise StrictJsonError(_TOO_DEEP)
    # Only an escape can bring a lone surrogate in, so most texts need no second look.
    if "\\ud" in text.lower() and not _encodes(value):
        raise StrictJsonError("a string holds half a surrogate pair")
    return value


def _too_deep(value: JsonValue) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return bool(level)


def _encodes(value: JsonValue) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise StrictJsonError(f"the key {twice!r} stands twice in one object")
    return found


def _no_constant(name: str) -> NoReturn:
    raise StrictJsonError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise StrictJsonError(f"{text} is too large a number")
    return value


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite
)
