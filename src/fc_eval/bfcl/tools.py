"""Documented functions to tools of the chat-completions API, and their names both ways.

BFCL documents functions with dotted names and types of its own; a tools API takes neither. The
conversion is the leaderboard's, remarks included, because a model that reads other tool texts
gives numbers that can't be compared.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from typing import Any

from fc_eval.records.codec import JsonValue

LANGUAGE_REMARK = " Note that the provided function is in Python 3 syntax."
FLOAT_REMARK = " This is a float type value."

_JSON_TYPES: Mapping[str, str] = {
    documented: json_type
    for json_type, names in {
        "object": "dict object HashMap Hashtable",
        "array": "array list tuple ArrayList Array Queue Stack",
        "number": "float number double",
        "integer": "integer byte short long Bigint",
        "boolean": "boolean bool",
        "string": "string String any Any char",
    }.items()
    for documented in names.split()
}
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def build_tools(functions: Sequence[Mapping[str, Any]]) -> list[dict[str, JsonValue]]:
    """The tools that a model is shown over a tools API, in the order of the functions.

    Raises:
        ValueError: A name does not fit the API, or two are one and the same after conversion.
    """
    tool_names(functions)
    return [
        {"type": "function", "function": _convert(function)} for function in with_remark(functions)
    ]


def with_remark(functions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Copies of the functions whose description names the language, in tools and prompts alike."""
    return [
        {**copy.deepcopy(dict(function)), "description": function["description"] + LANGUAGE_REMARK}
        for function in functions
    ]


def tool_name(documented: str) -> str:
    """The name of a documented function over a tools API: dots become underscores."""
    return documented.replace(".", "_")


def tool_names(functions: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Tool name to documented name: the way back, which the underscore alone does not tell.

    Raises:
        ValueError: A name does not fit the API, or two are one and the same after conversion.
    """
    names: dict[str, str] = {}
    for function in functions:
        documented = function["name"]
        name = tool_name(documented)
        if not _TOOL_NAME.fullmatch(name):
            raise ValueError(f"{documented!r} gives no tool name: up to 64 of a-z A-Z 0-9 _ -")
        if names.setdefault(name, documented) != documented:
            raise ValueError(f"{documented!r} and {names[name]!r} are both the tool {name!r}")
    return names


def json_type(documented: str | None) -> str:
    """The JSON Schema type of a documented type; what is unknown or missing is a string."""
    return _JSON_TYPES.get(documented or "", "string")


def _convert(function: dict[str, Any]) -> dict[str, Any]:
    parameters = function["parameters"]
    converted = {**parameters, "type": "object"}
    converted["properties"] = _properties(parameters["properties"])
    return {**function, "name": tool_name(function["name"]), "parameters": converted}


def _properties(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _property(schema) for name, schema in properties.items()}


def _property(schema: Mapping[str, Any]) -> dict[str, Any]:
    converted = {**schema, "type": json_type(schema.get("type"))}
    if schema.get("type") == "float":
        converted["format"] = "float"
        converted["description"] = schema.get("description", "") + FLOAT_REMARK
    if converted["type"] in ("array", "object"):
        if "properties" in schema:
            converted["properties"] = _properties(schema["properties"])
        elif "items" in schema:
            converted["items"] = _items(schema["items"])
    return converted


def _items(items: Mapping[str, Any]) -> dict[str, Any]:
    converted = {**items, "type": json_type(items["type"])}
    if converted["type"] == "array" and "items" in items:
        converted["items"] = {**items["items"], "type": json_type(items["items"]["type"])}
    elif converted["type"] == "object" and "properties" in items:
        converted["properties"] = _properties(items["properties"])
    return converted
