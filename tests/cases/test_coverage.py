"""The coverage tables, and their place in a README."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fc_eval.cases.coverage import BEGIN, END, coverage_matrix, insert_matrix, order_states
from fc_eval.domains.protocol import Toolset
from fc_eval.records.case import Case
from tests.cases.support import DOMAIN, READ, REQUEST, entry, golden


def test_every_tool_and_dimension_has_a_row_even_without_cases() -> None:
    tables = coverage_matrix([], DOMAIN)

    assert "| D4 | 0 | 0 | 0 | 0 | 0 |" in tables
    assert "| delete_order | write | 0 |" in tables


def test_a_scenario_is_one_row() -> None:
    call = {"tool": "list_orders", "params": {"status": "pending"}}
    rule = {**call, "param_rules": {"status": "normalized_str"}}
    cases = [
        Case.from_dict(entry(id="a", golden=golden(rule, call))),
        Case.from_dict(entry(id="b", golden=golden(rule, call))),
    ]

    tables = coverage_matrix(cases, DOMAIN)

    assert "| D1 | look | 2 | list_orders + list_orders | – | normalized_str |" in tables
    assert "| list_orders | read | 2 |" in tables


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        pytest.param(golden(allowed_extra=[]), "| none |", id="nothing"),
        pytest.param(
            golden(allowed_extra=["get_order"]), "| none; may read get_order |", id="reads"
        ),
    ],
)
def test_a_scenario_without_calls_says_what_it_may_read(
    data: dict[str, object], shown: str
) -> None:
    case = Case.from_dict(entry(golden=data))

    assert shown in coverage_matrix([case], DOMAIN)


@pytest.mark.parametrize(
    "missing",
    [
        pytest.param("get_order", id="no-tool-that-tells-them"),
        pytest.param("confirm_action", id="a-tool-that-tells-none"),
    ],
)
def test_orders_may_have_no_states(missing: str) -> None:
    toolset = Toolset(tool for tool in DOMAIN.toolset if tool.name != missing)

    case = Case.from_dict(entry(golden=golden(READ, REQUEST)))

    assert order_states(case, replace(DOMAIN, toolset=toolset)) == ()


def test_tables_go_between_the_markers() -> None:
    readme = f"# Head\n\n{BEGIN}\n\n| old |\n\n{END}\n\nTail\n"

    once = insert_matrix(readme, "| new |")

    assert once == f"# Head\n\n{BEGIN}\n\n| new |\n\n{END}\n\nTail\n"
    assert insert_matrix(once, "| new |") == once


@pytest.mark.parametrize("readme", ["", BEGIN, END, END + BEGIN, BEGIN + END + END], ids=repr)
def test_markers_that_are_not_there_are_told(readme: str) -> None:
    with pytest.raises(ValueError, match="no place for the tables"):
        insert_matrix(readme, "| new |")
