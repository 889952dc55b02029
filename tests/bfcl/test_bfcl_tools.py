from __future__ import annotations

from typing import Any

import pytest

from fc_eval.bfcl.tools import build_tools, json_type, tool_names
from tests.bfcl.support import function


@pytest.mark.parametrize(
    ("documented", "shown"),
    [
        pytest.param("dict", "object", id="dict"),
        pytest.param("tuple", "array", id="tuple"),
        pytest.param("float", "number", id="float"),
        pytest.param("any", "string", id="any"),
        pytest.param("Bigint", "integer", id="big-integer"),
        pytest.param("thing", "string", id="unknown"),
        pytest.param(None, "string", id="missing"),
    ],
)
def test_documented_types_become_json_types(documented: str | None, shown: str) -> None:
    assert json_type(documented) == shown


@pytest.mark.parametrize(
    ("documented", "shown"),
    [
        pytest.param(
            {"type": "string", "enum": ["a"]}, {"type": "string", "enum": ["a"]}, id="kept"
        ),
        pytest.param(
            {"type": "float", "description": "How far."},
            {
                "type": "number",
                "format": "float",
                "description": "How far. This is a float type value.",
            },
            id="floats-are-told-twice",
        ),
        pytest.param(
            {"type": "array", "items": {"type": "float"}},
            {"type": "array", "items": {"type": "number"}},
            id="but-not-in-lists",
        ),
        pytest.param(
            {"type": "dict", "properties": {"at": {"type": "tuple", "items": {"type": "any"}}}},
            {
                "type": "object",
                "properties": {"at": {"type": "array", "items": {"type": "string"}}},
            },
            id="objects-are-converted-whole",
        ),
        pytest.param(
            {"type": "array", "items": {"type": "array", "items": {"type": "dict"}}},
            {"type": "array", "items": {"type": "array", "items": {"type": "object"}}},
            id="lists-of-lists",
        ),
        pytest.param(
            {"type": "array", "items": {"type": "dict", "properties": {"a": {"type": "any"}}}},
            {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}},
            id="lists-of-objects",
        ),
    ],
)
def test_parameters_become_json_schema(documented: dict[str, Any], shown: dict[str, Any]) -> None:
    (tool,) = build_tools([function("a.b", {"x": documented}, required=["x"])])

    assert tool == {
        "type": "function",
        "function": {
            "name": "a_b",
            "description": "Does a.b. Note that the provided function is in Python 3 syntax.",
            "parameters": {"type": "object", "properties": {"x": shown}, "required": ["x"]},
        },
    }


def test_documents_are_left_as_they_are() -> None:
    documented = function("a.b", {"x": {"type": "float", "description": ""}})
    before = repr(documented)

    build_tools([documented])

    assert repr(documented) == before


def test_names_go_both_ways() -> None:
    functions = [function("a.b_c", {}), function("a_b", {})]

    assert tool_names(functions) == {"a_b_c": "a.b_c", "a_b": "a_b"}


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(["a.b", "a_b"], id="two-names-become-one"),
        pytest.param(["a b"], id="a-blank"),
        pytest.param(["a" * 65], id="too-long"),
        pytest.param([""], id="empty"),
    ],
)
def test_names_that_a_tools_api_can_not_have_are_refused(names: list[str]) -> None:
    with pytest.raises(ValueError, match="tool"):
        build_tools([function(name, {}) for name in names])
