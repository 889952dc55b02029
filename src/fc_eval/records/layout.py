"""The text of an artifact: one line a case, so that a change of a case is a change of a line.

Objects are opened, keys sorted; a list of objects has one line an item, and everything within an
item stands on that line. A reader sees the outline, a pull request shows the cases that changed.
"""

from __future__ import annotations

import json
import re
from enum import Enum

from fc_eval.records.codec import JsonValue, canonical
from fc_eval.records.text import printable

_INDENT = "  "


class Script(Enum):
    """Which characters stand in the text as they are."""

    ASCII = "ascii"
    """Only ASCII: what a server or a model sent shows as what it is."""
    READABLE = "readable"
    """All that can be seen: for a file that people write in."""


def render_artifact(value: JsonValue, *, script: Script = Script.ASCII) -> str:
    """The text of *value* with a newline at its end; equal values give equal texts.

    Raises:
        ValueError: *value* holds a NaN or an infinity.
    """
    text = _render(value, "") + "\n"
    return text if script is Script.ASCII else _readable(text)


def _render(value: JsonValue, indent: str) -> str:
    inner = indent + _INDENT
    if isinstance(value, dict) and value:
        lines = [f"{inner}{canonical(key)}: {_render(value[key], inner)}" for key in sorted(value)]
        return _block("{", lines, indent + "}")
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return _block("[", [inner + canonical(item) for item in value], indent + "]")
    return canonical(value)


def _block(opening: str, lines: list[str], closing: str) -> str:
    return "\n".join([opening, ",\n".join(lines), closing])


def _readable(text: str) -> str:
    # A lone surrogate, a control character, a zero-width or a bidi sign keeps its escape. An escape
    # that follows an odd number of backslashes is no escape but a backslash and letters.
    return _ESCAPES.sub(_unescape, text)


_ESCAPES = re.compile(r"\\\\|(?:\\u[0-9a-f]{4})+")


def _unescape(match: re.Match[str]) -> str:
    escaped = match.group()
    if escaped == "\\\\":
        return escaped
    decoded: str = json.loads(f'"{escaped}"')
    return "".join(char if printable(char) == char else canonical(char)[1:-1] for char in decoded)
