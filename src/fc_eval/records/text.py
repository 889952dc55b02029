"""Text that a model wrote, made fit for a terminal, a log and a one-line message.

A model's text may hold escape sequences that recolour a terminal, bidirectional marks that
reorder a line, or characters that nobody sees. All of them are shown as escapes here, so that a
reader sees what was sent. What is worth showing is decided by the callers.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping

from fc_eval.records.codec import JsonValue

ELLIPSIS = "…"

MAX_DEPTH = 100
"""Levels of nesting that a JSON value may have; a fixed number, since the limit of Python's own
recursion depends on how deep the caller stands."""

# Python refuses to write an integer of more than 4300 digits, and JSON's reader to read one.
_MOST_BITS = 14_000

# Assigned, "printable" for Python, and yet without a glyph: fillers and variation selectors.
_INVISIBLE = frozenset(
    map(
        chr,
        [
            0x034F,
            *(0x115F, 0x1160),
            *(0x17B4, 0x17B5),
            *range(0x180B, 0x1810),
            0x3164,
            *range(0xFE00, 0xFE10),
            0xFFA0,
            *range(0xE0100, 0xE01F0),
        ],
    )
)


def printable(text: str, limit: int | None = None) -> str:
    """*text* on one line, with everything that does not show as itself escaped.

    Escaped are control characters and line ends, ANSI escapes with them, lone surrogates,
    zero-width and bidirectional characters, all blanks but U+0020, and private or unassigned
    characters. Backslashes stay single: the result is for reading, not for reading back.

    Args:
        text: Any string, lone surrogates among it.
        limit: The longest result, in characters; a longer one ends with an ellipsis.
    """
    # One character gives one or more, so that nothing behind the limit needs a look.
    head = text if limit is None else text[: limit + 1]
    shown = "".join(map(_visible, head))
    if limit is None or len(shown) <= limit:
        return shown
    return shown[: max(limit - len(ELLIPSIS), 0)] + ELLIPSIS


def _visible(character: str) -> str:
    if character.isprintable() and character not in _INVISIBLE:
        return character
    return character.encode("unicode_escape").decode("ascii")


def show_value(value: JsonValue, limit: int | None = 80) -> str:
    """A JSON value for a message: strings in single quotes, all else as JSON with sorted keys."""
    if isinstance(value, str):
        return f"'{printable(value, limit)}'"
    if nests_too_deep(value):
        return f"a value of more than {MAX_DEPTH} levels"
    if has_endless_number(value):
        return "a value with a number of too many digits"
    return printable(json.dumps(value, ensure_ascii=False, sort_keys=True), limit)


def nests_too_deep(value: JsonValue, limit: int = MAX_DEPTH) -> bool:
    """Whether *value* has more than *limit* levels of objects and lists."""
    level = [value]
    for _ in range(limit):
        level = [
            item
            for container in level
            if isinstance(container, Mapping | list)
            for item in (container.values() if isinstance(container, Mapping) else container)
        ]
        if not level:
            return False
    return any(isinstance(item, Mapping | list) for item in level)


def has_endless_number(value: JsonValue) -> bool:
    """Whether an integer in *value* has more digits than Python writes down.

    *value* must not be nested too deep (see `nests_too_deep`).
    """
    if isinstance(value, Mapping | list):
        inner = value.values() if isinstance(value, Mapping) else value
        return any(map(has_endless_number, inner))
    return isinstance(value, int) and value.bit_length() > _MOST_BITS


def columns(text: str) -> int:
    """How many columns of a terminal a printable text takes; East-Asian wide ones take two."""
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def fit(text: str, width: int) -> str:
    """A printable text cut or padded with blanks to exactly *width* columns."""
    taken = columns(text)
    if taken <= width:
        return text + " " * (width - taken)
    kept = []
    taken = len(ELLIPSIS)
    for character in text:
        if taken + _columns(character) > width:
            break
        kept.append(character)
        taken += _columns(character)
    return "".join(kept) + ELLIPSIS + " " * (width - taken)


def wrap(text: str, width: int) -> list[str]:
    """A printable text broken into lines of at most *width* columns; one line at least."""
    lines = [""]
    taken = 0
    for character in text:
        if taken + _columns(character) > max(width, 2):
            lines.append("")
            taken = 0
        lines[-1] += character
        taken += _columns(character)
    return lines
