"""What a toolset and a domain say of arguments: schema faults and unknown identifiers."""

from __future__ import annotations

from typing import Any

import pytest

from fc_eval.domains.protocol import Domain, Tool, ToolKind, Toolset


class Nothing:
    def call(self, name: str, arguments: Any) -> Any:
        raise AssertionError("nothing is called here")


def toolset(**parameters: Any) -> Toolset:
    function = {"name": "tool", "parameters": {"type": "object", **parameters}}
    return Toolset([Tool(name="tool", kind=ToolKind.READ, function=function)])


@pytest.mark.parametrize(
    ("value", "unknown"),
    [
        pytest.param(3, (), id="known"),
        pytest.param(3.0, (), id="a-whole-float-is-the-integer"),
        pytest.param(True, ("n",), id="a-boolean-is-no-number"),
        pytest.param("3", ("n",), id="a-text-is-no-number"),
        pytest.param(None, (), id="null-is-left-to-the-schema"),
        pytest.param([1, 9], ("n.1",), id="each-item-of-a-list"),
        pytest.param({"deep": {"n": 9}}, ("n.deep.n",), id="at-any-depth"),
        pytest.param({"deep": {"m": 9}}, (), id="another-name-is-not-looked-at"),
    ],
)
def test_unknown_ids(value: Any, unknown: tuple[str, ...]) -> None:
    domain = Domain(
        toolset=toolset(), sandbox_factory=lambda case: Nothing(), known_ids={"n": {1, 3}}
    )

    assert domain.unknown_ids("n", value) == unknown


def test_what_a_pattern_allows_is_no_extra_parameter() -> None:
    tools = toolset(patternProperties={"^x-": {}}, additionalProperties=False)

    faults = tools.schema_faults("tool", {"x-a": 1, "extra": 2})

    assert [(fault.param, fault.rule) for fault in faults] == [("extra", "additionalProperties")]


def test_many_extra_parameters_are_each_named() -> None:
    names = {f"p{number}": number for number in range(5_000)}

    faults = toolset(additionalProperties=False).schema_faults("tool", names)

    assert {fault.param for fault in faults} == set(names)
