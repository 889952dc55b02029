"""Rules that strict servers hold a conversation's history to, each a name in `odd/odd.jsonl`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

Message = dict[str, Any]


def broken_guard(name: str, request: dict[str, Any], served: list[Any]) -> str | None:
    """Why *request* breaks the guard *name*, or None where it keeps it."""
    kind, _, argument = name.partition(":")
    if kind == "no_param":
        return f"{argument} was sent" if argument in request else None
    messages: list[Message] = request["messages"]
    if kind == "ids_answered":
        return _ids_answered(messages)
    if kind == "ids_verbatim":
        known = {call.get("id") for body in served for call in _served_calls(body)}
        return _each_call(messages, lambda call: call["id"] in known, "an id was changed")
    if kind == "reasoning_echo":
        with_calls = [item for item in messages if item.get("tool_calls")]
        kept = all(item.get("reasoning_content") for item in with_calls)
        return None if kept else "reasoning_content did not come back"
    if kind == "no_empty_content_with_calls":
        empty = any(item.get("tool_calls") and item["content"] == "" for item in messages)
        return "empty content beside calls" if empty else None
    if kind == "no_null_fields":
        null = any(
            value is None and key != "content" for item in messages for key, value in item.items()
        )
        return "a null field" if null else None
    rule, why = _CALL_RULES[kind]
    return _each_call(messages, rule, why)


def _is_object_text(text: object) -> bool:
    try:
        return isinstance(text, str) and isinstance(json.loads(text), dict)
    except ValueError:
        return False


_CALL_RULES: dict[str, tuple[Callable[[Message], bool], str]] = {
    "ids_nine": (
        lambda call: bool(re.fullmatch(r"[a-zA-Z0-9]{9}", call["id"])),
        "an id is not nine letters or digits",
    ),
    "args_json_string": (
        lambda call: _is_object_text(call["function"]["arguments"]),
        "arguments are no text with a JSON object",
    ),
    "names_pattern": (
        lambda call: bool(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", call["function"]["name"])),
        "a name does not match the pattern",
    ),
    "type_function": (lambda call: call.get("type") == "function", "the type is not function"),
    "signature_echo": (
        lambda call: bool(call.get("extra_content", {}).get("google", {}).get("thought_signature")),
        "the signature did not come back",
    ),
}


def _each_call(messages: list[Message], rule: Callable[[Message], bool], why: str) -> str | None:
    calls = (call for item in messages for call in item.get("tool_calls", ()))
    return None if all(map(rule, calls)) else why


def _served_calls(body: Any) -> Iterable[Message]:
    for choice in body.get("choices") or ():
        yield from (choice.get("message") or {}).get("tool_calls") or ()


def _ids_answered(messages: list[Message]) -> str | None:
    earlier: set[str] = set()
    for index, message in enumerate(messages):
        ids = [call["id"] for call in message.get("tool_calls", ())]
        if len(set(ids)) != len(ids) or earlier & set(ids):
            return "an id twice"
        earlier |= set(ids)
        results = [item.get("tool_call_id") for item in messages[index + 1 : index + 1 + len(ids)]]
        if results != ids:
            return f"calls {ids} are answered by {results}"
    return None
