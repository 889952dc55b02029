"""Tool calling for models that have none: tools in the system prompt, calls as text.

One `ToolProtocol` for each `prompt_format` of a model profile; the profile's hash binds it.

    json         the tools as JSON; a call is one JSON object or a list of them, and any other
                 text is the answer
    json_schema  the tools as short signatures; every answer is one JSON object, a call or
                 `{"answer": "..."}`, and the endpoint is asked to enforce that

A model is held to the form that its prompt describes. Nothing is cut out of a fence or of prose,
nothing is repaired: what has the looks of a call and can't be read by the letter is a call without
a name and without arguments. Native tool calling is not read here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from fc_eval.agent.arguments import text_near_misses
from fc_eval.agent.flags import Flag
from fc_eval.agent.protocol import (
    AnsweredCall,
    Message,
    ReadCall,
    Reading,
    Reply,
    ToolProtocol,
)
from fc_eval.agent.strict_json import JsonFault, parse_json
from fc_eval.errors import ConfigError
from fc_eval.records.codec import JsonValue, canonical

Tools: TypeAlias = Sequence[Mapping[str, JsonValue]]

# --- formats

JSON_RULES = """\
You can call tools. These are all of them, one a line, with the JSON Schema of their parameters:
{tools}

To call a tool, answer with one JSON object and nothing else, no code fence and no other words:
{{"name": "<tool>", "arguments": {{<its parameters>}}}}
To call several tools at once, answer with a list of such objects. The results come as the next \
message. When no further call is due, answer in plain text.

Examples, with tools that you do not have:
User: How warm is it in Oslo?
You: {{"name": "get_weather", "arguments": {{"city": "Oslo"}}}}
User: Compare Oslo and Rome.
You: [{{"name": "get_weather", "arguments": {{"city": "Oslo"}}}}, \
{{"name": "get_weather", "arguments": {{"city": "Rome"}}}}]
User: Thanks, that was all!
You: You are welcome."""

SCHEMA_RULES = """\
You can call these tools:
{tools}

Each of your answers is one JSON object. Copy identifiers from the user's message. To call a tool:
{{"name": "<tool>", "arguments": {{<its parameters>}}}}
To answer without a tool:
{{"answer": "<text>"}}

Examples, with other tools:
User: How warm is it in Oslo?
You: {{"name": "get_weather", "arguments": {{"city": "Oslo"}}}}
User: Result of get_weather: {{"celsius": 4}}
You: {{"answer": "It is 4 degrees in Oslo."}}
User: Book room R7 for two nights, please.
You: {{"name": "book_room", "arguments": {{"room_id": "R7", "nights": 2}}}}
User: 会议室 R9 的设备有哪些？
You: {{"name": "list_devices", "arguments": {{"room_id": "R9"}}}}
User: Hello!
You: {{"answer": "Hello, how can I help you?"}}
User: Thanks!
You: {{"answer": "You are welcome."}}
User: Is room R7 free?
You: {{"name": "check_room", "arguments": {{"room_id": "R7"}}}}
User: Result of check_room: {{"room_id": "R7", "free": true}}
You: {{"answer": "Yes, room R7 is free."}}
User: 会议室 R8 有空吗？
You: {{"name": "check_room", "arguments": {{"room_id": "R8"}}}}
User: Result of check_room: {{"error": {{"code": "NOT_FOUND", "message": "no room R8"}}}}
You: {{"answer": "抱歉，没有找到会议室 R8。"}}"""

NEXT_STEP = "Make the next call, or answer in plain text where none is due."
SCHEMA_NEXT_STEP = 'Tell the user with {"answer": "<text>"}, or call another tool if one is due.'


class JsonProtocol:
    """`prompt_format = "json"`: the form of answers is asked for, and nothing enforces it.

    Args:
        tools: In the OpenAI form.
    """

    next_step = NEXT_STEP

    def __init__(self, tools: Tools) -> None:
        self._functions = [tool["function"] for tool in tools]

    def system_text(self, system_prompt: str) -> str:
        """The system prompt, the tools, and how to call them."""
        tools = "\n".join(json.dumps(item, ensure_ascii=False) for item in self._functions)
        return _joined(system_prompt, JSON_RULES.format(tools=tools))

    def request_fields(self) -> dict[str, JsonValue]:
        """Nothing: all is said in the prompt."""
        return {}

    def read(self, reply: Reply) -> Reading:
        """Calls where the answer is JSON, else its text."""
        return _read(reply, answer_key=None)

    def assistant_message(self, reply: Reply, answered: Sequence[AnsweredCall]) -> Message:
        """The answer's text as it came."""
        return _assistant_message(reply)

    def result_messages(self, answered: Sequence[AnsweredCall]) -> list[Message]:
        """All results in one user message, as chat templates want the roles to alternate."""
        lines = [f"Result of {item.call.tool or 'the call'}: {item.content}" for item in answered]
        return [{"role": "user", "content": "\n".join([*lines, self.next_step])}]


class JsonSchemaProtocol(JsonProtocol):
    """`prompt_format = "json_schema"`: made for small models, which a grammar keeps in form.

    One call an answer, so that the grammar has no list in which a small model gets lost.
    """

    next_step = SCHEMA_NEXT_STEP

    def system_text(self, system_prompt: str) -> str:
        """The system prompt, the tools as signatures, and how to call them."""
        tools = "\n".join(map(_signature, self._functions))
        return _joined(system_prompt, SCHEMA_RULES.format(tools=tools))

    def request_fields(self) -> dict[str, JsonValue]:
        """`response_format` with the schema of an answer."""
        schema = {"name": "answer", "schema": answer_schema(self._functions)}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}

    def read(self, reply: Reply) -> Reading:
        """Calls, or the text under `answer`; an endpoint that enforces nothing may give prose."""
        return _read(reply, answer_key="answer")

    def assistant_message(self, reply: Reply, answered: Sequence[AnsweredCall]) -> Message:
        """The answer in the spacing of the prompt's examples.

        Grammars leave blanks to the model. One that sees its own spacing in the history follows
        that instead of the examples, and repeats its call for ever.
        """
        message = _assistant_message(reply)
        try:
            value = parse_json(message["content"]).value
        except JsonFault:
            return message
        return {**message, "content": json.dumps(value, ensure_ascii=False)}


FORMATS: dict[str, Callable[[Tools], ToolProtocol]] = {
    "json": JsonProtocol,
    "json_schema": JsonSchemaProtocol,
}
"""What makes the protocol of a `prompt_format`; a package with a format of its own adds it."""


def protocol_for(prompt_format: str, tools: Tools) -> ToolProtocol:
    """The protocol that a model profile names.

    Args:
        prompt_format: A key of `FORMATS`.
        tools: The toolset in the OpenAI form.

    Raises:
        ConfigError: There is no such format.
    """
    if prompt_format not in FORMATS:
        raise ConfigError(
            f"prompt_format is {prompt_format!r}", fix=f"use one of: {', '.join(sorted(FORMATS))}"
        )
    return FORMATS[prompt_format](tools)


# --- from answers to calls

# A fence or a tag before JSON, or JSON: a call was begun, whatever became of it.
_BEGINS_LIKE_A_CALL = re.compile(r"\s*(?:```\w*\s*|<\w+>\s*)?(?:\{|\[\s*[{\]])")
_NAME_KEY = re.compile(r"""["'“]name["'”]\s*:""")
_ARGUMENTS_KEY = re.compile(r"""["'“]arguments["'”]\s*:""")


def _read(reply: Reply, *, answer_key: str | None) -> Reading:
    # An endpoint that answers with calls although it was sent no tools has read them itself.
    if reply.calls:
        return Reading(calls=reply.calls, text=reply.text)
    if not _has_the_looks_of_a_call(reply.text):
        return Reading(text=reply.text)
    try:
        parsed = parse_json(reply.text.strip())
    except JsonFault as error:
        return Reading(calls=(_malformed(reply.text, str(error)),))
    if parsed.conflicting:
        return Reading(calls=(_malformed(reply.text, "one key with two values"),))
    answer = parsed.value
    if isinstance(answer, dict) and set(answer) == {answer_key}:
        text = answer[answer_key]
        if isinstance(text, str):
            return Reading(text=text)
    flags = (Flag.DUPLICATE_KEYS,) if parsed.repeated else ()
    items = answer if isinstance(answer, list) else [answer]
    return Reading(calls=tuple(_call(item) for item in items), flags=flags)


def _has_the_looks_of_a_call(text: str) -> bool:
    if _BEGINS_LIKE_A_CALL.match(text):
        return True
    return bool(_NAME_KEY.search(text) and _ARGUMENTS_KEY.search(text))


def _call(item: JsonValue) -> ReadCall:
    if not isinstance(item, dict) or "name" not in item or set(item) - {"name", "arguments"}:
        return _malformed(canonical(item), "expected an object with name and arguments")
    name, arguments = item["name"], item.get("arguments")
    flags = () if isinstance(name, str) and name else (Flag.NAME_MISSING,)
    tool = name if isinstance(name, str) else ""
    if arguments is None:
        return ReadCall(tool=tool, arguments={}, flags=(*flags, Flag.ARGS_EMPTY))
    if isinstance(arguments, dict):
        return ReadCall(tool=tool, arguments=arguments, flags=flags)
    return ReadCall(
        tool=tool,
        arguments=None,
        arguments_raw=canonical(arguments),
        parse_error="expected an object",
        flags=flags,
    )


def _malformed(text: str, why: str) -> ReadCall:
    return ReadCall(
        tool=None,
        arguments=None,
        arguments_raw=text,
        parse_error=why,
        flags=text_near_misses(text),
    )


# --- from tools to text and schema


def _joined(system_prompt: str, rules: str) -> str:
    return f"{system_prompt.rstrip()}\n\n{rules}" if system_prompt.strip() else rules


def _assistant_message(reply: Reply) -> Message:
    calls = [{"name": call.tool, "arguments": call.arguments or {}} for call in reply.calls]
    written = json.dumps(calls, ensure_ascii=False) if calls else ""
    return {"role": "assistant", "content": reply.raw_text or written}


def _signature(function: Mapping[str, Any]) -> str:
    """A tool in one line: `- name(needed, choice: a|b, optional?): description`."""
    parameters = function.get("parameters") or {}
    required = parameters.get("required", [])
    shown = [
        f"{name}{'' if name in required else '?'}{_type_text(schema)}"
        for name, schema in parameters.get("properties", {}).items()
    ]
    return f"- {function['name']}({', '.join(shown)}): {function.get('description', '')}"


def _type_text(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return ": " + "|".join(map(str, schema["enum"]))
    if "properties" in schema:
        return ": {" + ", ".join(schema["properties"]) + "}"
    kind = schema.get("type", "string")
    return "" if kind == "string" else f": {kind}"


MAX_STRING = 80
MAX_ANSWER = 200

# What grammars of several servers can say; all else is left to the check of the call itself.
_KEPT = ("type", "enum", "const", "required", "minLength", "minItems", "maxItems")


def answer_schema(functions: Sequence[Mapping[str, Any]]) -> dict[str, JsonValue]:
    """The JSON Schema of an answer: a call of one of the *functions*, or `{"answer": text}`.

    Strings have a limit, as a small model under a grammar may never close one. Names come before
    arguments, since a grammar keeps the order of properties.
    """
    calls = [
        _closed({"name": {"const": item["name"]}, "arguments": _arguments_schema(item)})
        for item in functions
    ]
    text = {"type": "string", "minLength": 1, "maxLength": MAX_ANSWER}
    return {"anyOf": [*calls, _closed({"answer": text})]}


def _closed(properties: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _arguments_schema(function: Mapping[str, Any]) -> dict[str, JsonValue]:
    return _limited(function.get("parameters") or {"type": "object", "properties": {}})


def _limited(schema: Mapping[str, Any]) -> dict[str, JsonValue]:
    return dict(_limited_items(schema))


def _limited_items(schema: Mapping[str, Any]) -> Iterator[tuple[str, JsonValue]]:
    yield from ((key, schema[key]) for key in _KEPT if key in schema)
    if schema.get("type") == "string" and not {"enum", "const"} & set(schema):
        yield "maxLength", min(schema.get("maxLength", MAX_STRING), MAX_STRING)
    if "properties" in schema:
        properties = schema["properties"]
        yield "properties", {name: _limited(inner) for name, inner in properties.items()}
        yield "additionalProperties", False
    if isinstance(schema.get("items"), Mapping):
        yield "items", _limited(schema["items"])
    for key in ("anyOf", "oneOf"):
        if key in schema:
            yield "anyOf", [_limited(inner) for inner in schema[key]]
