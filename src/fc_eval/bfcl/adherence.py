"""Does a call fit the tool as it is documented, whatever was asked for?

The official check holds calls against labels. This one needs none, so that it also says something
of entries that expect no call, and tells a model that can't fill in a form from one that fills in
the wrong thing. It is no part of any official number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

from fc_eval.bfcl.tools import json_type


class SchemaFault(StrEnum):
    """One way in which an argument does not fit its tool."""

    MISSING_REQUIRED = "missing_required"
    UNDOCUMENTED = "undocumented"
    WRONG_TYPE = "wrong_type"
    ENUM_VIOLATION = "enum_violation"


_PYTHON_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list, tuple),
    "number": (float, int),
    "integer": (int,),
    "boolean": (bool,),
    "string": (str,),
}


def schema_faults(
    function: Mapping[str, Any], arguments: Mapping[str, Any]
) -> list[tuple[str, SchemaFault]]:
    """Where arguments do not fit the documented function: paths such as `filter.city`, and why.

    An argument that spells out its documented default always fits. Types are BFCL's: 5.0 is no
    integer, 5 is a float, and `any` is shown to the model as a string.
    """
    return list(_object_faults("", function["parameters"], arguments))


def spelled_defaults(function: Mapping[str, Any], arguments: Mapping[str, Any]) -> list[str]:
    """The arguments that only say what the documentation gives as the default."""
    properties = function["parameters"]["properties"]
    return [name for name, value in arguments.items() if _is_default(properties.get(name), value)]


def _is_default(schema: Mapping[str, Any] | None, value: Any) -> bool:
    if schema is None or "default" not in schema:
        return False
    default = schema["default"]
    return type(value) is type(default) and value == default


def _object_faults(
    path: str, schema: Mapping[str, Any], value: Mapping[str, Any]
) -> Iterator[tuple[str, SchemaFault]]:
    properties = schema["properties"]
    required = schema.get("required", ())
    for name in required if isinstance(required, list) else ():
        if name not in value:
            yield f"{path}{name}", SchemaFault.MISSING_REQUIRED
    for name, item in value.items():
        if name in properties:
            yield from _value_faults(f"{path}{name}", properties[name], item)
        else:
            yield f"{path}{name}", SchemaFault.UNDOCUMENTED


def _value_faults(
    path: str, schema: Mapping[str, Any], value: Any
) -> Iterator[tuple[str, SchemaFault]]:
    if _is_default(schema, value):
        return
    if type(value) not in _PYTHON_TYPES[json_type(schema.get("type"))]:
        yield path, SchemaFault.WRONG_TYPE
    elif isinstance(value, dict):
        if "properties" in schema:
            yield from _object_faults(f"{path}.", schema, value)
    elif isinstance(value, list | tuple):
        # An enum beside the type of a list names what its elements may be.
        items = {**schema.get("items", {})}
        if "enum" in schema:
            items.setdefault("enum", schema["enum"])
        for position, item in enumerate(value):
            yield from _value_faults(f"{path}.{position}", items, item) if items else ()
    elif "enum" in schema and not _listed(value, schema["enum"]):
        yield path, SchemaFault.ENUM_VIOLATION


def _listed(value: Any, choices: list[Any]) -> bool:
    """Whether an enum has the value; some documents write booleans and numbers there as text."""
    if any(type(choice) is type(value) and choice == value for choice in choices):
        return True
    return not isinstance(value, str) and str(value).lower() in {
        choice.lower() for choice in choices if isinstance(choice, str)
    }
