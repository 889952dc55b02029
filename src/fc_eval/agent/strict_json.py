"""JSON text to values, strictly, and with the same answer on every Python.

The standard reader takes NaN, keeps the last of two equal keys, and fails by recursion at a depth
that depends on the interpreter. Text from a model or an endpoint is read here instead: what is not
JSON by the letter, nests too deeply, or holds a number that no value can stand for is a
`JsonFault`. Nothing is ever repaired.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from fc_eval.records.codec import JsonValue, canonical
from fc_eval.records.text import MAX_DEPTH, has_endless_number

MAX_DIGITS = 4300

# A string, finished or not, or a bracket; possessive, so that hostile text costs linear time.
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{}\]]', re.DOTALL)


class JsonFault(ValueError):  # noqa: N818 - it is the text's fault, and read as a value
    """A text is no JSON; `str()` says why, in the same words on every Python."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A JSON text that was read.

    `repeated` is true where a key stood twice in one object with the same value, `conflicting`
    where with two values; the last one is kept then.
    """

    value: JsonValue
    repeated: bool = False
    conflicting: bool = False


def parse_json(text: str) -> Parsed:
    """Read one JSON text.

    Raises:
        JsonFault: It is no JSON, nests deeper than `MAX_DEPTH`, has an integer of more than
            `MAX_DIGITS` digits, or a number beyond the range of a double.
    """
    if _too_deep(text):
        raise JsonFault(f"nested deeper than {MAX_DEPTH} levels")
    keys = _Keys()
    try:
        value = json.loads(
            text,
            parse_int=_integer,
            parse_float=_double,
            parse_constant=_constant,
            object_pairs_hook=keys.collect,
        )
    except JsonFault:
        raise
    except (ValueError, RecursionError):
        # Python's own words and positions differ between versions.
        raise JsonFault("not valid JSON") from None
    return Parsed(value=value, repeated=keys.repeated, conflicting=keys.conflicting)


def copy_json(value: object, *, depth: int = MAX_DEPTH) -> JsonValue:
    """A deep copy of *value* in plain JSON types, independent of it.

    Tuples become lists, subclasses of the plain types become the plain types.

    Raises:
        JsonFault: Something in it is no JSON value: a set, a date, NaN, a key that is no string,
            a nesting deeper than *depth* levels.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        if has_endless_number(value):
            raise JsonFault("a number has more digits than can be written down")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise JsonFault(f"{float(value)} is no JSON number")
        return float(value)
    if depth <= 0:
        raise JsonFault(f"nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, list | tuple):
        return [copy_json(item, depth=depth - 1) for item in value]
    if isinstance(value, dict):
        return {_key(key): copy_json(item, depth=depth - 1) for key, item in value.items()}
    raise JsonFault(f"a {type(value).__name__} is no JSON value")


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise JsonFault(f"a key of type {type(key).__name__} is no JSON key")
    return str.__str__(key)


def _too_deep(text: str) -> bool:
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    depth = 0
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                return True
        elif token in "]}":
            depth -= 1
    return False


def _integer(text: str) -> int:
    if len(text.lstrip("-")) > MAX_DIGITS:
        raise JsonFault(f"an integer of more than {MAX_DIGITS} digits")
    return int(text)


def _double(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise JsonFault("a number beyond the range of a double")
    return number


def _constant(text: str) -> NoReturn:
    raise JsonFault(f"{text} is no JSON number")


class _Keys:
    """Notices keys that stand twice in one object."""

    def __init__(self) -> None:
        self.repeated = False
        self.conflicting = False

    def collect(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, value in pairs:
            if key in result:
                # Compared as text: Python takes 1, 1.0 and True for equal.
                if canonical(result[key]) == canonical(value):
                    self.repeated = True
                else:
                    self.conflicting = True
            result[key] = value
        return result
