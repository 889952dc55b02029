"""What a domain may say and probably does not mean.

These are no faults: a domain that is shared by several projects may name more than one of them
needs. They are told, since a misspelt name switches a check off without a sound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fc_eval.domains.protocol import Domain, ToolKind


def domain_slips(domain: Domain) -> tuple[str, ...]:
    """Notes on names that no tool has, in a fixed order."""
    parameters = {name for tool in domain.toolset for name in _property_names(tool.parameters)}
    unused = [
        f"known_ids names {name!r}, and no tool has such a parameter"
        for name in sorted(domain.known_ids)
        if name not in parameters
    ]
    confirms = [tool for tool in domain.toolset if tool.kind is ToolKind.CONFIRM]
    if confirms and not any(domain.link in tool.properties for tool in confirms):
        unused.append(f"the link is {domain.link!r}, and no confirm tool has such a parameter")
    return tuple(unused)


def _property_names(schema: Any) -> Iterator[str]:
    """The names of all properties in a JSON Schema, wherever they stand."""
    if isinstance(schema, Mapping):
        properties = schema.get("properties")
        if isinstance(properties, Mapping):
            yield from map(str, properties)
        for inner in schema.values():
            yield from _property_names(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from _property_names(inner)
