"""A tool list in the OpenAI form to `Tool` records, with every fault that it has.

What is refused here would otherwise come back as an HTTP 400 of some endpoints and go unseen by
others: a name they don't take, an array without items, a `required` that names nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from fc_eval.domains.protocol import Tool, ToolKind
from fc_eval.errors import nearest
from fc_eval.records.codec import JsonValue, canonical

NAME: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
KINDS: Final = tuple(kind.value for kind in ToolKind)

_TOOL_KEYS: Final = ("type", "kind", "function")
# Where a JSON Schema holds other schemas: by name, as a list, or alone.
_BY_NAME: Final = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_LISTED: Final = ("prefixItems", "anyOf", "oneOf", "allOf")
_ALONE: Final = (
    *("items", "additionalProperties", "unevaluatedProperties", "unevaluatedItems", "contains"),
    *("propertyNames", "not", "if", "then", "else"),
)
# Schemas under these say a part of what holds, and may name what their neighbours describe.
_PARTIAL: Final = ("anyOf", "oneOf", "allOf", "dependentSchemas", "not", "if", "then", "else")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolListFault:
    """What is wrong with a tool list; `tool` is the name of the tool, where it has one."""

    problem: str
    fix: str
    tool: str | None = None


def parse_tools(value: JsonValue) -> tuple[list[Tool], list[ToolListFault]]:
    """Read a tool list; a tool with a fault is left out of the tools."""
    if not _is_list(value):
        fix = 'write [{"type": "function", "kind": "read", "function": {...}}, ...]'
        return [], [ToolListFault(problem="the tools are no list", fix=fix)]
    if not value:
        return [], [ToolListFault(problem="the tool list is empty", fix="write at least one tool")]
    tools: list[Tool] = []
    faults: list[ToolListFault] = []
    for position, entry in enumerate(value):
        tool, found = _parse_tool(f"tool {position + 1}", entry)
        if tool is not None and any(tool.name == other.name for other in tools):
            fix = "give each tool a name of its own"
            found = [_fault(tool.name, f"two tools are named {tool.name!r}", fix)]
        faults += found
        if tool is not None and not found:
            tools.append(tool)
    return tools, faults


def signature_faults(tool: Tool, function: Callable[..., JsonValue]) -> Iterator[ToolListFault]:
    """Where *function* can't be called with the arguments that the schema of *tool* allows."""
    import inspect

    if inspect.iscoroutinefunction(function):
        fix = "write a plain function; a sandbox answers at once"
        yield _fault(tool.name, f"the function of tool {tool.name!r} is async", fix)
        return
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some built-ins tell nothing of themselves
        return
    taken = signature.parameters.values()
    if not any(item.kind is item.VAR_KEYWORD for item in taken):
        names = {item.name for item in taken if item.kind is not item.POSITIONAL_ONLY}
        for name in tool.properties:
            if name not in names:
                problem = f"the function of tool {tool.name!r} takes no {name!r}"
                yield _fault(tool.name, problem, f"give it a parameter {name!r}")
    required = tool.parameters.get("required") or ()
    for item in taken:
        needed = item.default is item.empty and item.kind not in (
            item.VAR_KEYWORD,
            item.VAR_POSITIONAL,
        )
        if needed and item.name not in required:
            problem = f"the function of tool {tool.name!r} can't be called without {item.name!r}"
            fix = f"give {item.name!r} a default, or list it under required in the tool's schema"
            yield _fault(tool.name, problem, fix)


def _fault(tool: str | None, problem: str, fix: str) -> ToolListFault:
    return ToolListFault(problem=problem, fix=fix, tool=tool)


def _parse_tool(where: str, entry: JsonValue) -> tuple[Tool | None, list[ToolListFault]]:
    function = entry.get("function") if isinstance(entry, Mapping) else None
    if not isinstance(function, Mapping):
        fix = 'write {"type": "function", "kind": ..., "function": {"name": ...}}'
        return None, [_fault(None, f"{where} has no object `function`", fix)]
    name = function.get("name")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        fix = "use letters, digits, _ and -, no digit or - in front, 64 characters at most"
        return None, [_fault(None, f"{where} has the name {name!r}", fix)]
    faults = [_fault(name, f"tool {name!r}: {problem}", fix) for problem, fix in _faults(entry)]
    kind = entry.get("kind", ToolKind.WRITE.value)
    if faults:
        return None, faults
    return Tool(name=name, kind=ToolKind(kind), function=function), []


def _faults(entry: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    function = entry["function"]
    for key in entry:
        if key not in _TOOL_KEYS:
            fix = nearest(str(key), _TOOL_KEYS, otherwise="delete it, or move it into `function`")
            yield f"unknown key {key!r}", fix
    if entry.get("type") != "function":
        yield f"type is {entry.get('type')!r}", 'write "type": "function"'
    kind = entry.get("kind", ToolKind.WRITE.value)
    if kind not in KINDS:
        yield f"unknown kind {kind!r}", f"write one of {', '.join(KINDS)}"
    if "kind" in function:
        # In there it would be sent to the model.
        yield "`kind` stands inside `function`", "write it beside `type`"
    if not isinstance(function.get("description", ""), str):
        yield "the description is no string", "write it as a string"
    try:
        canonical(dict(function))
    except (TypeError, ValueError, RecursionError) as error:
        yield f"it can't be written as JSON: {error}", "use JSON values only, without NaN"
        return
    if "parameters" in function:
        yield from _parameter_faults(function["parameters"])


def _parameter_faults(schema: JsonValue) -> Iterator[tuple[str, str]]:
    import jsonschema

    if not isinstance(schema, Mapping) or schema.get("type") != "object":
        yield "parameters is no object schema", 'write {"type": "object", "properties": {...}}'
        return
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        where = ".".join(["parameters", *map(str, error.absolute_path)])
        yield f"{where} is no JSON Schema: {error.message}", "write it as JSON Schema 2020-12 says"
        return
    yield from _schema_faults(schema, "parameters", root=schema, partial=False)


def _schema_faults(
    schema: JsonValue, where: str, *, root: Mapping[str, Any], partial: bool
) -> Iterator[tuple[str, str]]:
    if not isinstance(schema, Mapping):  # true and false are schemas too
        return
    if "$ref" in schema and not _resolves(root, schema["$ref"]):
        fix = "point to a part of this tool's parameters, such as #/$defs/Address"
        yield f"{where}: $ref {schema['$ref']!r} leads nowhere", fix
    if not partial:
        properties = schema.get("properties") or {}
        named = "properties" in schema or schema is root
        for name in schema.get("required", ()) if named else ():
            if name not in properties:
                fix = nearest(name, list(properties), otherwise="describe it under properties")
                yield f"{where}.required names {name!r}, which is no property", fix
        kinds = schema.get("type")
        is_array = kinds == "array" or (isinstance(kinds, list) and "array" in kinds)
        if is_array and "items" not in schema and "prefixItems" not in schema:
            yield f"{where} is an array without items", 'add "items": {"type": ...}'
    for key, inner in _inner(schema):
        inside = partial or key.split(".")[0] in _PARTIAL
        yield from _schema_faults(inner, f"{where}.{key}", root=root, partial=inside)


def _inner(schema: Mapping[str, Any]) -> Iterator[tuple[str, JsonValue]]:
    for key in _BY_NAME:
        for name, inner in (schema.get(key) or {}).items():
            yield f"{key}.{name}", inner
    for key in _LISTED:
        for position, inner in enumerate(schema.get(key) or ()):
            yield f"{key}.{position}", inner
    for key in _ALONE:
        if key in schema:
            yield key, schema[key]


def _resolves(root: Mapping[str, Any], reference: str) -> bool:
    if not reference.startswith("#"):
        return False
    node: JsonValue = root
    for part in reference[1:].split("/")[1:]:
        step = part.replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping) and step in node:
            node = node[step]
        elif _is_list(node) and step.isdigit() and int(step) < len(node):
            node = node[int(step)]
        else:
            return False
    return reference == "#" or reference.startswith("#/")


def _is_list(value: JsonValue) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)
