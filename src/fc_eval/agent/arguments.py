"""The arguments of one call, from whatever stood in their place.

An object that came as an object is taken, absence is the empty object, a text goes through strict
JSON, and everything else is malformed. A text that a lenient reader would have taken is noted as a
near miss and stays malformed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from fc_eval.agent.flags import Flag
from fc_eval.agent.strict_json import JsonFault, copy_json, parse_json
from fc_eval.records.codec import JsonValue, canonical


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadArguments:
    """Arguments as they were read; the fields are those of `Call`."""

    arguments: Mapping[str, JsonValue] | None
    arguments_raw: str | None = None
    parse_error: str | None = None
    flags: tuple[str, ...] = ()


def read_arguments(value: object) -> ReadArguments:
    """Read what stood in the place of a call's arguments. Never raises, never repairs.

    Source:
        The reading order of arguments: absent, null or blank; an object; a string of strict JSON.
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        raw = value if isinstance(value, str) else None
        return ReadArguments(arguments={}, arguments_raw=raw, flags=(Flag.ARGS_EMPTY,))
    if isinstance(value, str):
        return _read_text(value)
    try:
        plain = copy_json(value)
    except (JsonFault, RecursionError) as error:
        return ReadArguments(
            arguments=None, arguments_raw=_shown(value), parse_error=f"no JSON value: {error}"
        )
    if not isinstance(plain, dict):
        return ReadArguments(
            arguments=None,
            arguments_raw=canonical(plain),
            parse_error=f"expected an object, not {_kind(plain)}",
            flags=(Flag.ARGS_NOT_STRING,),
        )
    return ReadArguments(arguments=plain, flags=(Flag.ARGS_NOT_STRING,))


def _read_text(text: str) -> ReadArguments:
    try:
        parsed = parse_json(text)
    except JsonFault as error:
        return _malformed(text, str(error), flags=text_near_misses(text))
    if not isinstance(parsed.value, dict):
        return _malformed(
            text, f"expected an object, not {_kind(parsed.value)}", flags=_non_object(parsed.value)
        )
    if parsed.conflicting:
        return _malformed(text, "one key with two values", flags=(Flag.DUPLICATE_KEYS,))
    flags = (Flag.DUPLICATE_KEYS,) if parsed.repeated else ()
    raw = None if is_plain_text(text, parsed.value) else text
    return ReadArguments(arguments=parsed.value, arguments_raw=raw, flags=flags)


def is_plain_text(text: str, value: JsonValue) -> bool:
    """Whether *text* is a plain encoding of *value*, so that an artifact need not repeat it.

    Plain is the order of the keys as they came, with Python's separators or none, escaped or not.
    """
    return any(
        text == json.dumps(value, ensure_ascii=ascii_only, separators=separators)
        for ascii_only in (False, True)
        for separators in ((", ", ": "), (",", ":"))
    )


def _malformed(text: str, error: str, *, flags: tuple[str, ...]) -> ReadArguments:
    return ReadArguments(arguments=None, arguments_raw=text, parse_error=error, flags=flags)


def _non_object(value: JsonValue) -> tuple[str, ...]:
    if isinstance(value, str) and _is_object(value):
        return (Flag.NEAR_MISS_ARGS, Flag.DOUBLE_ENCODED)
    return (Flag.NEAR_MISS_ARGS,) if isinstance(value, list) else ()


_FENCE = re.compile(r"\A\s*```[a-zA-Z]*\s*(.*?)\s*```\s*\Z", re.DOTALL)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_PYTHON_WORD = re.compile(r"\b(True|False|None|NaN)\b")
_BARE_KEY = re.compile(r"([{,]\s*)([A-Za-z_]\w*)(\s*:)")
_TEMPLATE_TOKEN = re.compile(r"(?:<\|[^|<>]{1,40}\|>|</?[a-z_]{1,40}>)\s*")
_CONTROL = re.compile(r"[\x00-\x1f]")
_BAD_ESCAPE = re.compile(r'\\(?!["\\/bfnrtu])')
_PUNCTUATION = str.maketrans("｛｝［］：，“”„‟＂", '{}[]:,"""""')
_WORDS = {"True": "true", "False": "false", "None": "null", "NaN": "null"}

# Near misses are only looked for in texts of a length that arguments have.
_LONGEST_LOOKED_AT = 5_000


def text_near_misses(text: str) -> tuple[str, ...]:
    """What a lenient reader would have made of a malformed text, as flags."""
    if len(text) > _LONGEST_LOOKED_AT:
        return ()
    pieces = _objects(text)
    if len(pieces) > 1:
        return (Flag.CONCATENATED_ARGS,)
    return (Flag.NEAR_MISS_ARGS,) if any(map(_is_object, _lenient(text))) else ()


def _lenient(text: str) -> list[str]:
    """Texts that differ from *text* by a habit of models, singly and all together."""
    fenced = _FENCE.match(text)
    bare = fenced[1] if fenced else text
    bare = _TEMPLATE_TOKEN.sub("", bare).translate(_PUNCTUATION)
    commas = _TRAILING_COMMA.sub(r"\1", bare)
    words = _PYTHON_WORD.sub(lambda match: _WORDS[match[1]], commas)
    keys = _BARE_KEY.sub(r'\1"\2"\3', words)
    escapes = _BAD_ESCAPE.sub(r"\\\\", _CONTROL.sub(" ", keys))
    return [bare, commas, words, keys, escapes, escapes.replace("'", '"'), *_objects(bare)]


def _objects(text: str) -> list[str]:
    """The JSON objects that stand in *text* one after the other from its start."""
    decoder, found, at = json.JSONDecoder(), [], len(text) - len(text.lstrip())
    while at < len(text) and text[at] == "{":
        try:
            _, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        found.append(text[at:end])
        at = end + len(text[end:]) - len(text[end:].lstrip(" \t\r\n,;"))
    return found


# A string, or the beginning of one at the end of the text.
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_LAST_WORD = re.compile(r"(?:[a-z]+|[-+0-9.eE]+)\Z")
_CLOSING = {"{": "}", "[": "]"}


def is_cut(text: str | None) -> bool:
    """Whether *text* is the beginning of a JSON object that was cut off."""
    text = (text or "").strip()
    if not text.startswith("{") or len(text) > _LONGEST_LOOKED_AT:
        return False
    # Without what stands in strings, brackets in them don't count.
    shape = _STRING.sub('""', text)
    open_brackets: list[str] = []
    for character in shape:
        if character in "{[":
            open_brackets.append(_CLOSING[character])
        elif character in "}]" and (not open_brackets or open_brackets.pop() != character):
            return False
    end = "".join(reversed(open_brackets))
    return bool(end) and any(_is_object(start + end) for start in _completions(shape))


def _completions(shape: str) -> list[str]:
    """Ways in which the last, unfinished part of a JSON text may have gone on."""
    bare = shape.rstrip(" \t\r\n,")
    stems = [bare]
    word = _LAST_WORD.search(bare)
    if word is not None and _is_begun(word[0]):
        stems.append(bare[: word.start()] + "0")
    return [stem + rest for stem in stems for rest in ("", "0", ":0")]


def _is_begun(word: str) -> bool:
    """Whether *word* begins a number or a literal."""
    literals = ("true", "false", "null")
    return not word.isalpha() or any(literal.startswith(word) for literal in literals)


def _is_object(text: str) -> bool:
    try:
        return isinstance(parse_json(text).value, dict)
    except JsonFault:
        return False


def _kind(value: JsonValue) -> str:
    names = {list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def _shown(value: object) -> str:
    # repr() of a stranger's object may do anything; its type is what a reader needs.
    return f"<{type(value).__name__}>"
