"""Tool schemas as they are sent: as written, or in the plain form that every provider takes.

The judge always uses the domain's own schemas. A profile other than "as written" is chosen by the
model profile and hashed with it; every change that it makes is listed.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fc_eval.errors import ConfigError, DomainError
from fc_eval.records.codec import JsonValue

PLAIN = "plain"
PROFILES = (PLAIN,)

_KEPT = ("type", "description", "enum")
_TOLD = (
    "default",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "pattern",
    "format",
    "uniqueItems",
)
_STRUCTURE = ("properties", "required", "items", "const", "$ref", "$defs", "definitions")


@dataclass(frozen=True, slots=True, kw_only=True)
class SentTools:
    """Tools as they go into a request, and what was changed, as `tool: path: change`."""

    tools: list[dict[str, JsonValue]]
    changes: tuple[str, ...] = ()


def sent_tools(tools: Sequence[Mapping[str, JsonValue]], schema_profile: str | None) -> SentTools:
    """*tools* under a schema profile; None sends the schemas as they are written.

    Raises:
        ConfigError: There is no such profile.
        DomainError: A schema refers to itself, or to something outside it.
    """
    if schema_profile is None:
        return SentTools(tools=[copy.deepcopy(dict(tool)) for tool in tools])
    if schema_profile != PLAIN:
        raise ConfigError(
            f"there is no schema_profile {schema_profile!r}",
            fix=f"use one of: {', '.join(PROFILES)}; or leave it out to send schemas as written",
        )
    changes: list[str] = []
    return SentTools(tools=[_plain_tool(tool, changes) for tool in tools], changes=tuple(changes))


def _plain_tool(tool: Mapping[str, Any], changes: list[str]) -> dict[str, JsonValue]:
    function = copy.deepcopy(dict(tool["function"]))
    function.pop("strict", None)
    if "parameters" in function:
        schema = function["parameters"]
        plainer = _Plainer(function["name"], schema, changes)
        function["parameters"] = plainer.schema(schema, path="", inside=())
    return {**tool, "function": function}


class _Plainer:
    """Rewrites one tool's schema, and lists what it changes."""

    def __init__(self, tool: str, root: Mapping[str, Any], changes: list[str]) -> None:
        self._tool = tool
        self._root = root
        self._changes = changes

    def schema(self, schema: object, *, path: str, inside: tuple[str, ...]) -> dict[str, Any]:
        """A schema with the keywords of the plain form only."""
        if not isinstance(schema, dict):
            # `true` allows everything, and so does the empty schema.
            self._note(path, f"{json.dumps(schema)} replaced by an empty schema")
            return {}
        schema, inside = self._resolved(schema, path, inside)
        plain = {name: copy.deepcopy(schema[name]) for name in _KEPT if name in schema}
        if "const" in schema:
            self._note(path, "const as an enum of one value")
            plain["enum"] = [copy.deepcopy(schema["const"])]
        if isinstance(schema.get("properties"), dict):
            plain["properties"] = {
                name: self.schema(item, path=f"{path}.{name}".lstrip("."), inside=inside)
                for name, item in schema["properties"].items()
            }
        if "required" in schema:
            plain["required"] = list(schema["required"])
        if "items" in schema:
            plain["items"] = self.schema(schema["items"], path=f"{path}[]", inside=inside)
        self._describe(plain, schema, path)
        return plain

    def _describe(self, plain: dict[str, Any], schema: Mapping[str, Any], path: str) -> None:
        told = [
            f"{name}: {json.dumps(schema[name], ensure_ascii=False)}"
            for name in _TOLD
            if name in schema
        ]
        if told:
            text = str(plain.get("description") or "").strip()
            plain["description"] = f"{text} ({', '.join(told)})".strip()
        for name in schema:
            if name not in (*_KEPT, *_STRUCTURE):
                where = "moved into the description" if name in _TOLD else "left out"
                self._note(path, f"{name} {where}")

    def _resolved(
        self, schema: dict[str, Any], path: str, inside: tuple[str, ...]
    ) -> tuple[dict[str, Any], tuple[str, ...]]:
        while "$ref" in schema:
            ref = schema["$ref"]
            if ref in inside:
                raise DomainError(
                    f"tool {self._tool!r}: the schema at {path or 'its root'} refers to itself"
                    f" by {ref!r}",
                    fix="write the schema without recursion, or drop schema_profile",
                )
            self._note(path, f"$ref {ref} put in line")
            inside = (*inside, ref)
            rest = {name: item for name, item in schema.items() if name != "$ref"}
            schema = {**self._target(ref, path), **rest}
        return schema, inside

    def _target(self, ref: object, path: str) -> dict[str, Any]:
        found: Any = self._root
        parts = str(ref).removeprefix("#").strip("/").split("/")
        for part in parts if str(ref).startswith("#/") else ["\0"]:
            name = part.replace("~1", "/").replace("~0", "~")
            found = found.get(name) if isinstance(found, dict) else None
        if not isinstance(found, dict):
            raise DomainError(
                f"tool {self._tool!r}: {ref!r} at {path or 'the root'} can't be found",
                fix="refer to something under $defs of the same schema",
            )
        return found

    def _note(self, path: str, change: str) -> None:
        self._changes.append(f"{self._tool}: {path or 'parameters'}: {change}")
