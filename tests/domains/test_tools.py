"""A tool list is read whole, or every one of its faults is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fc_eval.domains.protocol import Tool, ToolKind
from fc_eval.domains.tools import parse_tools, signature_faults


def tool(parameters: object = None, /, **changes: Any) -> dict[str, Any]:
    """A tool that is right but for its *changes*; those of `function` replace single fields."""
    function = {
        "name": "find",
        "description": "Finds.",
        "parameters": parameters or {"type": "object", "properties": {}},
        **changes.pop("function", {}),
    }
    return {"type": "function", "kind": "read", "function": function, **changes}


def schema(**properties: Any) -> dict[str, Any]:
    """An object schema of *properties*."""
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        pytest.param(tool(type="tool"), "type is 'tool'", id="the-type-is-function"),
        pytest.param(tool(kind="reed"), "unknown kind 'reed'", id="the-kind-is-known"),
        pytest.param(tool(kind=None), "unknown kind None", id="the-kind-is-no-null"),
        pytest.param(tool(Kind="read"), "unknown key 'Kind'", id="a-misspelt-kind-is-not-ignored"),
        pytest.param(
            tool(function={"kind": "read"}),
            "`kind` stands inside `function`",
            id="the-kind-is-never-sent",
        ),
        pytest.param(tool(function={"name": "2nd"}), "name '2nd'", id="no-digit-in-front"),
        pytest.param(tool(function={"name": "a.b"}), "name 'a.b'", id="no-dot-in-a-name"),
        pytest.param(tool(function={"name": "a\n"}), "name 'a", id="no-newline-after-a-name"),
        pytest.param(tool(function={"name": "a" * 65}), "name", id="64-characters-at-most"),
        pytest.param(tool(function={"description": 1}), "description", id="descriptions-are-text"),
        pytest.param({"type": "function"}, "no object `function`", id="there-is-a-function"),
        pytest.param("find", "no object `function`", id="a-tool-is-an-object"),
        pytest.param(tool({"type": "array"}), "no object schema", id="arguments-are-an-object"),
        pytest.param(tool({"properties": {}}), "no object schema", id="the-object-is-written-out"),
        pytest.param(tool(schema(a={"type": "str"})), "no JSON Schema", id="types-are-json-types"),
        pytest.param(
            tool(schema(a={"const": float("nan")})), "can't be written", id="nan-is-no-json"
        ),
        pytest.param(tool(schema(a={"const": {1}})), "can't be written", id="a-set-is-no-json"),
        pytest.param(
            tool({**schema(order={}), "required": ["ordr"]}), "'ordr'", id="required-names-exist"
        ),
        pytest.param(
            tool({"type": "object", "required": ["a"]}), "'a'", id="required-names-properties"
        ),
        pytest.param(
            tool(schema(a={**schema(b={}), "required": ["c"]})), "'c'", id="required-at-any-depth"
        ),
        pytest.param(tool(schema(a={"type": "array"})), "without items", id="arrays-have-items"),
        pytest.param(
            tool(schema(a={"type": ["array", "null"]})),
            "without items",
            id="arrays-that-may-be-null-have-items",
        ),
        pytest.param(
            tool(schema(a={"anyOf": [{"items": {"type": "array"}, "type": "array"}]})),
            None,
            id="a-part-of-a-schema-need-not-be-whole",
        ),
        pytest.param(tool(schema(a={"$ref": "#/$defs/A"})), "nowhere", id="references-resolve"),
        pytest.param(
            tool(schema(a={"$ref": "https://example.com/a"})), "nowhere", id="references-are-local"
        ),
    ],
)
def test_a_tool_that_models_or_endpoints_would_not_take(entry: object, problem: str | None) -> None:
    tools, faults = parse_tools([entry])

    assert [problem in fault.problem for fault in faults if problem] == ([True] if problem else [])
    assert bool(tools) == (problem is None)


@pytest.mark.parametrize(
    "parameters",
    [
        pytest.param(None, id="no-parameters"),
        pytest.param({"type": "object"}, id="no-properties"),
        pytest.param(
            {**schema(a={"$ref": "#/$defs/A"}), "$defs": {"A": {"type": "string"}}},
            id="a-local-reference",
        ),
        pytest.param(schema(a={"$ref": "#"}), id="a-reference-to-itself"),
        pytest.param(
            {**schema(a={"$ref": "#/$defs/x~1y"}), "$defs": {"x/y": {}}}, id="an-escaped-reference"
        ),
        pytest.param(schema(required={"type": "string"}), id="a-parameter-named-like-a-keyword"),
        pytest.param(
            {**schema(a={}, b={}), "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
            id="one-of-two-is-required",
        ),
        pytest.param(schema(a={"type": "array", "prefixItems": [{}]}), id="a-tuple"),
        pytest.param({**schema(), "additionalProperties": False}, id="a-closed-object"),
    ],
)
def test_a_tool_with_these_parameters_is_fine(parameters: object) -> None:
    tools, faults = parse_tools([tool(parameters)])

    assert not faults
    assert [item.name for item in tools] == ["find"]


def test_a_tool_without_a_kind_writes() -> None:
    entry = tool()
    del entry["kind"]

    tools, _ = parse_tools([entry])

    assert tools[0].kind is ToolKind.WRITE


def test_names_are_unique() -> None:
    _, faults = parse_tools([tool(), tool()])

    assert [fault.problem for fault in faults] == ["two tools are named 'find'"]


@pytest.mark.parametrize("value", [[], {}, "tools", None], ids=repr)
def test_a_tool_list_is_a_list_of_some_tools(value: object) -> None:
    tools, faults = parse_tools(value)

    assert not tools
    assert len(faults) == 1


def test_all_faults_are_told() -> None:
    bad = schema(a={"type": "array"}, b={"$ref": "#/x"})

    _, faults = parse_tools([tool(bad, type="x"), {"type": "function"}])

    assert len(faults) == 4


async def _wait(order_id: str) -> None: ...


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        pytest.param(lambda order_id: None, None, id="the-parameters-by-name"),
        pytest.param(lambda **arguments: None, None, id="any-parameters"),
        pytest.param(lambda order_id, note="": None, None, id="one-more-with-a-default"),
        pytest.param(lambda: None, "takes no 'order_id'", id="a-parameter-less"),
        pytest.param(lambda order_id, /: None, "takes no 'order_id'", id="by-position-only"),
        pytest.param(
            lambda order_id, note: None, "without 'note'", id="one-more-without-a-default"
        ),
        pytest.param(_wait, "is async", id="a-coroutine"),
        pytest.param(dict, None, id="a-built-in-that-tells-nothing-of-itself"),
    ],
)
def test_functions_take_what_the_schema_allows(
    function: Callable[..., object], problem: str | None
) -> None:
    parameters = {**schema(order_id={"type": "string"}), "required": ["order_id"]}
    entry = Tool(
        name="find", kind=ToolKind.READ, function={"name": "find", "parameters": parameters}
    )

    found = [fault.problem for fault in signature_faults(entry, function)]

    assert len(found) == (problem is not None)
    assert problem is None or problem in found[0]
