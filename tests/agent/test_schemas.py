"""The plain form of schemas: what stays, what moves into the description, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from fc_eval.agent.schemas import sent_tools
from fc_eval.errors import ConfigError, DomainError
from tests.agent.support import TOOLSET


def _tool(parameters: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "t", "parameters": parameters, "strict": True}}


def _plain(parameters: Any) -> tuple[Any, tuple[str, ...]]:
    sent = sent_tools([_tool(parameters)], "plain")
    function: Any = sent.tools[0]["function"]
    assert "strict" not in function
    return function["parameters"], sent.changes


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("schema", "plain", "change"),
    [
        pytest.param(
            {"type": "string", "description": "An id.", "enum": ["a"]},
            {"type": "string", "description": "An id.", "enum": ["a"]},
            None,
            id="what-every-provider-takes",
        ),
        pytest.param(
            {"type": "integer", "description": "Boxes.", "minimum": 1, "default": 1},
            {"type": "integer", "description": "Boxes. (default: 1, minimum: 1)"},
            "t: a: minimum moved into the description",
            id="limits-and-default-move",
        ),
        pytest.param(
            {"type": "string", "minLength": 1},
            {"type": "string", "description": "(minLength: 1)"},
            "t: a: minLength moved into the description",
            id="a-description-is-made",
        ),
        pytest.param(
            {"const": "x"}, {"enum": ["x"]}, "t: a: const as an enum of one value", id="const"
        ),
        pytest.param(
            {"type": "string", "title": "A", "examples": ["x"], "$comment": "y"},
            {"type": "string"},
            "t: a: title left out",
            id="titles-and-examples-go",
        ),
        pytest.param(
            {
                "type": "object",
                "properties": {"b": {"type": "string", "title": "B"}},
                "required": ["b"],
                "additionalProperties": False,
            },
            {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]},
            "t: a.b: title left out",
            id="at-every-depth",
        ),
        pytest.param(
            {"type": "array", "items": {"type": "string", "title": "B"}, "uniqueItems": True},
            {"type": "array", "items": {"type": "string"}, "description": "(uniqueItems: true)"},
            "t: a[]: title left out",
            id="in-lists",
        ),
        pytest.param(True, {}, "t: a: true replaced by an empty schema", id="a-boolean-schema"),
    ],
)
def test_one_parameter(schema: Any, plain: Any, change: str | None) -> None:
    parameters, changes = _plain(_object(a=schema))

    assert parameters["properties"]["a"] == plain
    assert change is None or change in changes
    assert bool(changes) == (change is not None)


def test_references_are_put_in_line() -> None:
    schema = {
        **_object(a={"$ref": "#/$defs/Address", "description": "Where to."}),
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {
            "Address": _object(city={"$ref": "#/$defs/a~1b"}),
            "a/b": {"type": "string"},
        },
    }

    parameters, changes = _plain(schema)

    assert parameters == _object(a={"description": "Where to.", **_object(city={"type": "string"})})
    assert "t: a: $ref #/$defs/Address put in line" in changes
    assert "t: parameters: $schema left out" in changes


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param(
            {**_object(a={"$ref": "#/$defs/T"}), "$defs": {"T": _object(b={"$ref": "#/$defs/T"})}},
            id="to-itself",
        ),
        pytest.param(_object(a={"$ref": "#"}), id="to-the-root"),
        pytest.param(_object(a={"$ref": "#/$defs/Gone"}), id="to-nothing"),
        pytest.param(_object(a={"$ref": "https://example.org/x.json"}), id="to-elsewhere"),
    ],
)
def test_references_that_are_refused(schema: Any) -> None:
    with pytest.raises(DomainError):
        sent_tools([_tool(schema)], "plain")


def test_as_written_is_a_copy_without_changes() -> None:
    tools = TOOLSET.openai()

    sent = sent_tools(tools, None)

    assert (sent.tools, sent.changes) == (tools, ())
    assert sent.tools[0] is not tools[0]


def test_a_tool_without_parameters_stays_without() -> None:
    sent = sent_tools([{"type": "function", "function": {"name": "t"}}], "plain")

    assert sent.tools == [{"type": "function", "function": {"name": "t"}}]


def test_a_profile_that_does_not_exist() -> None:
    with pytest.raises(ConfigError, match="there is no schema_profile 'gemini'"):
        sent_tools([], "gemini")
