"""What the lines of a suite must add up to."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fc_eval.cases.check import validate
from fc_eval.cases.suite import parse_suite
from fc_eval.records.codec import schema_errors
from tests.cases.support import (
    CONFIRM,
    DOMAIN,
    READ,
    REQUEST,
    check,
    entry,
    faults,
    golden,
    lines,
    told,
)

CHAIN = golden(REQUEST, CONFIRM, order_sensitive=True)
LOOK = {
    "dimension": "D1",
    "first_id": "fc-d1-001",
    "tools": ["get_order"],
    "order_sensitive": False,
    "negative": False,
}
CANCEL = {
    **LOOK,
    "dimension": "D4",
    "first_id": "fc-d4-001",
    "tools": ["request_cancel", "confirm_action"],
    "order_sensitive": True,
}


def suite(variants: int = 2, **categories: Any) -> str:
    """A suite file with one line for each category."""
    value = {
        "schema": "SuiteV1",
        "variants": [f"variant {number}" for number in range(variants)],
        "categories": categories,
    }
    return json.dumps(value).replace('"categories": {', '"categories": {\n').replace("}, ", "},\n")


def variants(prefix: str, *changes: dict[str, Any], **common: Any) -> list[dict[str, Any]]:
    """Cases under consecutive ids with instructions of their own, each with its changes."""
    return [
        entry(**{"id": f"{prefix}-{n:03}", "instruction": f"{prefix} {n}", **common, **change})
        for n, change in enumerate(changes, 1)
    ]


def test_a_suite_that_is_as_its_file_says() -> None:
    cases = [
        *variants("fc-d1", {}, {}),
        *variants("fc-d4", {}, {}, dimension="D4", category="cancel", golden=CHAIN),
    ]

    assert len(check(lines(*cases), suite=suite(look=LOOK, cancel=CANCEL)).cases) == 4


def test_a_suite_file_counts_in_ids_of_any_form() -> None:
    cases = variants("shop", {}, {}, {})

    assert not faults(lines(*cases), suite=suite(3, look={**LOOK, "first_id": "shop-001"}))


def test_a_suite_file_speaks_for_its_own_folder_only() -> None:
    elsewhere = lines(entry(category="other"))
    text = suite(look=LOOK)

    checked = validate(
        files=[("cases/a.jsonl", lines(*variants("fc-d1", {}, {}))), ("more/b.jsonl", elsewhere)],
        suite_text=("cases/suite.json", text),
        domain=DOMAIN,
    )
    assert len(checked.cases) == 3


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        pytest.param(
            {"id": "d2-1", "dimension": "D2"},
            "dimension: D2, but cases/suite.json says D1",
            id="dimension",
        ),
        pytest.param(
            {"golden": golden(REQUEST)},
            "golden.calls: [request_cancel], but cases/suite.json says [get_order]",
            id="tools",
        ),
        pytest.param(
            {"golden": golden(READ, order_sensitive=True)},
            "golden.order_sensitive: True, but cases/suite.json says False",
            id="ordering",
        ),
        pytest.param(
            {"golden": golden(READ, allowed_extra=[])},
            "golden.allowed_extra: [], but cases/suite.json says nothing",
            id="whitelist",
        ),
        pytest.param(
            {"golden": golden(READ, allowed_extra=[]), "negative": True},
            "negative: True, but cases/suite.json says False",
            id="negative",
        ),
    ],
)
def test_a_case_that_is_not_as_its_scenario(changes: dict[str, Any], problem: str) -> None:
    found = told(faults(lines(*variants("fc-d1", {}, changes)), suite=suite(look=LOOK)))

    assert any(text.startswith(f"0.jsonl:2: {problem}") for text in found)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        pytest.param({"context": {"db_fixture": "standard", "notes": "-"}}, "context", id="notes"),
        pytest.param(
            {"golden": golden({"tool": "get_order", "params": {"order_id": "W2"}})},
            "golden",
            id="parameters",
        ),
        pytest.param({"skip": True, "skip_reason": "Later."}, "skip", id="skip"),
    ],
)
def test_variants_differ_in_id_and_instruction_only(changes: dict[str, Any], field: str) -> None:
    found = told(faults(lines(*variants("fc-d1", {}, changes)), suite=suite(look=LOOK)))

    expected = f"0.jsonl:2: {field}: not as in 'fc-d1-001' (cases/0.jsonl:1)"
    assert found[0].startswith(expected)


@pytest.mark.parametrize(
    ("cases", "expected"),
    [
        pytest.param(
            variants("fc-d1", {}),
            "suite.json:2: category 'look' has the cases fc-d1-001, expected fc-d1-001, fc-d1-002",
            id="a-variant-too-few",
        ),
        pytest.param(
            variants("fc-d1", {}, {}, {}),
            "suite.json:2: category 'look' has the cases fc-d1-001, fc-d1-002, fc-d1-003, expected",
            id="a-variant-too-many",
        ),
        pytest.param(
            list(reversed(variants("fc-d1", {}, {}))),
            "suite.json:2: category 'look' has the cases fc-d1-002, fc-d1-001, expected",
            id="variants-in-another-order",
        ),
    ],
)
def test_a_scenario_has_its_variants_in_order(cases: list[dict[str, Any]], expected: str) -> None:
    (found,) = told(faults(lines(*cases), suite=suite(look=LOOK)))

    assert found.startswith(expected)


def test_a_category_without_cases_is_told_with_its_line() -> None:
    text = suite(look=LOOK, cancel=CANCEL)

    (found,) = faults(lines(*variants("fc-d1", {}, {})), suite=text)

    assert found.problem.startswith("category 'cancel' has the cases (none)")
    assert '"cancel"' in text.splitlines()[(found.line or 0) - 1]


def test_a_category_that_the_suite_file_does_not_have() -> None:
    cases = variants("fc-d1", {}, {}, category="lok")

    first, _ = faults(lines(*cases), suite=suite(look=LOOK))

    assert first.problem == "category: cases/suite.json has no category 'lok'"
    assert first.fix == "write 'look'"


def test_lines_that_can_not_be_read_are_not_counted_against_the_suite() -> None:
    found = told(faults("oops\n", suite=suite(look=LOOK)))

    assert [text.partition(": ")[0] for text in found] == ["0.jsonl:1"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("{", "this is no JSON", id="no-json"),
        pytest.param("[]", "this is no JSON object", id="a-list"),
        pytest.param('{"schema": "SuiteV1"}', "variants", id="a-field-missing"),
        pytest.param(suite().replace("SuiteV1", "SuiteV2"), "SuiteV2", id="another-version"),
        pytest.param(suite(0), "variants is empty", id="no-variants"),
        pytest.param(suite().replace("variants", "variant"), "unknown key 'variant'", id="a-key"),
        pytest.param(
            suite(look={**LOOK, "tool": []}), "look: unknown key 'tool'", id="a-key-of-a-scenario"
        ),
        pytest.param(
            suite(look={**LOOK, "first_id": "fc"}), "does not end in a number", id="no-number"
        ),
        pytest.param(
            suite(look={**LOOK, "dimension": "D9"}), "look: ", id="a-dimension-that-is-none"
        ),
    ],
)
def test_a_suite_file_that_can_not_be_used(text: str, problem: str) -> None:
    read, found = parse_suite(("cases/suite.json", text))

    assert read is None
    assert any(problem in fault.problem for fault in found)
    if text.startswith("{") and text.endswith("}"):
        assert schema_errors("SuiteV1", json.loads(text))


def test_a_category_twice_is_refused() -> None:
    text = '{"schema": "SuiteV1", "variants": ["a"], "categories": {"a": {}, "a": {}}}'

    _, found = parse_suite(("cases/suite.json", text))

    assert "'a' stands twice" in found[0].problem


def test_all_faults_of_a_suite_file_are_told_with_their_lines() -> None:
    text = suite(look={**LOOK, "tools": "get_order"}, cancel={**CANCEL, "negative": None})

    _, found = parse_suite(("cases/suite.json", text))

    assert [(fault.line, fault.problem.partition(":")[0]) for fault in found] == [
        (2, "look"),
        (3, "cancel"),
    ]
