"""Native tool calling: the `tools` field, `tool_calls`, and a history that strict servers take.

A fault in the history comes back as an HTTP 400 and looks like a fault of the model, so everything
that goes back is made well-formed here: ids, names, arguments, types. What the model sent stays as
it is in the trace.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from fc_eval.agent.protocol import AnsweredCall, Message, ReadCall, Reading, Reply
from fc_eval.records.codec import JsonValue

PLACEHOLDER_NAME = "invalid_tool_name"
"""Stands in the history for a name that servers refuse."""

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ECHOED = ("reasoning_content", "reasoning_details", "extra_content")
_ECHOED_IN_CALL = ("extra_content",)


class NativeProtocol:
    """Tools in the `tools` field, calls in `tool_calls`.

    Args:
        tools: As they are sent.
        echo_reasoning: Whether reasoning and signatures go back as they came.
    """

    def __init__(
        self, tools: Sequence[Mapping[str, JsonValue]], *, echo_reasoning: bool = True
    ) -> None:
        self._tools = list(tools)
        self._echo = echo_reasoning

    def system_text(self, system_prompt: str) -> str:
        """The system prompt itself: the server's template shows the tools."""
        return system_prompt

    def request_fields(self) -> dict[str, JsonValue]:
        """The `tools` field; nothing where there are no tools, since an empty list is refused."""
        return {"tools": self._tools} if self._tools else {}

    def read(self, reply: Reply) -> Reading:
        """The calls of the answer's `tool_calls`; calls in the text are text."""
        return Reading(calls=reply.calls, text=reply.text)

    def assistant_message(self, reply: Reply, answered: Sequence[AnsweredCall]) -> Message:
        """The answer as it goes back: content null beside calls, every call well-formed."""
        message: Message = {"role": "assistant", "content": _content(reply, bool(answered))}
        if answered:
            message["tool_calls"] = [self._call(item) for item in answered]
        if self._echo:
            message |= _present(reply.message, _ECHOED)
        return message

    def result_messages(self, answered: Sequence[AnsweredCall]) -> list[Message]:
        """One `tool` message for each call, in order."""
        return [
            {"role": "tool", "tool_call_id": item.history_id, "content": item.content}
            for item in answered
        ]

    def _call(self, item: AnsweredCall) -> Message:
        call = item.call
        name = call.tool or ""
        entry: Message = {
            "id": item.history_id,
            "type": "function",
            "function": {
                "name": name if _NAME.fullmatch(name) else PLACEHOLDER_NAME,
                "arguments": history_arguments(call),
            },
        }
        return entry | (_present(call.wire, _ECHOED_IN_CALL) if self._echo else {})


def history_arguments(call: ReadCall) -> str:
    """Arguments as a text with a JSON object: as they came, or `{}` where nobody can read them."""
    if call.arguments is None:
        return "{}"
    function = call.wire.get("function")
    text = function.get("arguments") if isinstance(function, dict) else None
    if isinstance(text, str) and text.strip():
        return text
    return json.dumps(call.arguments, ensure_ascii=False)


def _content(reply: Reply, has_calls: bool) -> JsonValue:
    content = reply.message.get("content")
    if isinstance(content, list) and _has_thinking(content):
        return content
    text = reply.raw_text
    return text or None if has_calls else text


def _has_thinking(parts: list[Any]) -> bool:
    # Parts that are not text carry signatures, which some servers want back.
    return any(isinstance(part, dict) and part.get("type") != "text" for part in parts)


def _present(source: Mapping[str, JsonValue], names: Sequence[str]) -> Message:
    return {name: source[name] for name in names if source.get(name) is not None}
