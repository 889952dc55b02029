"""Where a line meets the domain and the other lines."""

from __future__ import annotations

from typing import Any

import pytest

from fc_eval.records.case import Dimension
from tests.cases.support import (
    CONFIRM,
    READ,
    REQUEST,
    check,
    entry,
    faults,
    golden,
    lines,
    numbered,
    told,
)


def call(tool: str, rules: dict[str, str] | None = None, /, **params: Any) -> dict[str, Any]:
    return {"tool": tool, "params": params, **({"param_rules": rules} if rules else {})}


DATE = {"placed_on": "normalized_date"}


@pytest.mark.parametrize(
    ("calls", "problem", "fix"),
    [
        pytest.param(
            [call("get_ordr", order_id="W1")],
            "golden.calls[0].tool: there is no tool 'get_ordr'",
            "write 'get_order'",
            id="a-tool-that-is-none",
        ),
        pytest.param(
            [READ, call("get_order")],
            "golden.calls[1].params.order_id: 'order_id' is a required property",
            "add 'order_id'",
            id="a-parameter-missing",
        ),
        pytest.param(
            [call("get_order", order_id="W1", oder_id="W1")],
            "golden.calls[0].params.oder_id: Additional properties",
            "write 'order_id'",
            id="a-parameter-too-many",
        ),
        pytest.param(
            [call("list_orders", status="lost")],
            "golden.calls[0].params.status: 'lost' is not one of",
            "write what the schema of 'list_orders' allows",
            id="a-value-that-the-schema-does-not-allow",
        ),
        pytest.param(
            [call("get_order", order_id="W3")],
            "golden.calls[0].params.order_id: 'W3' does not exist",
            "write 'W30'",
            id="an-identifier-that-does-not-exist",
        ),
        pytest.param(
            [call("request_cancel", order_id="W1", note={"order_id": "W9"})],
            "golden.calls[0].params.note.order_id: it does not exist",
            "write an identifier that the domain has",
            id="an-identifier-at-any-depth",
        ),
        pytest.param(
            [call("list_orders", DATE, placed_on="2026-3-9")],
            "golden.calls[0].params.placed_on: '2026-3-9' is no ISO 8601",
            "write it like 2026-03-12",
            id="a-date-that-is-none",
        ),
        pytest.param(
            [call("list_orders", DATE, placed_on=["2026-03-09", {"to": "soon"}])],
            "golden.calls[0].params.placed_on: 'soon' is no ISO 8601",
            "write it like 2026-03-12",
            id="a-leaf-that-is-no-date",
        ),
        pytest.param(
            [call("list_orders", DATE, placed_on=20260309)],
            "golden.calls[0].params.placed_on: 20260309 is no ISO 8601",
            "write it like 2026-03-12",
            id="a-number-that-is-no-date",
        ),
        pytest.param(
            [REQUEST, call("confirm_action", action_id="")],
            "golden.calls[1].params.action_id: it is empty",
            'write "<action_id>"',
            id="a-link-that-is-empty",
        ),
        pytest.param(
            [CONFIRM, REQUEST],
            "golden.calls[0]: 'confirm_action' belongs to no request",
            "write the request in front of it",
            id="a-confirm-before-its-request",
        ),
        pytest.param(
            [REQUEST, CONFIRM, CONFIRM],
            "golden.calls[2]: 'confirm_action' belongs to no request",
            "write the request in front of it",
            id="one-confirm-too-many",
        ),
        pytest.param(
            [REQUEST, REQUEST, CONFIRM, CONFIRM],
            "golden.calls[1]: this request starts before",
            "write each confirm right after its request",
            id="a-request-within-a-chain",
        ),
        pytest.param(
            [call("list_orders", DATE, placed_on="20260309")], None, None, id="a-date-in-basic-form"
        ),
        pytest.param(
            [call("list_orders", DATE, placed_on={"n": 1})], None, None, id="a-number-beside-dates"
        ),
        pytest.param([call("list_orders", placed_on="soon")], None, None, id="no-rule-for-dates"),
        pytest.param([REQUEST, REQUEST], None, None, id="requests-without-any-confirm"),
        pytest.param(
            [REQUEST, READ, CONFIRM, REQUEST], None, None, id="a-last-request-without-a-confirm"
        ),
        pytest.param(
            [call("delete_order", order_id="W1"), REQUEST, CONFIRM], None, None, id="write-first"
        ),
    ],
)
def test_golden_fits_the_domain(
    calls: list[dict[str, Any]], problem: str | None, fix: str | None
) -> None:
    found = faults(lines(entry(golden=golden(*calls))))

    if problem is None:
        assert not found
    else:
        assert told(found)[0].startswith(f"0.jsonl:1: {problem}")
        assert found[0].fix == fix
        assert len(found) == 1


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        pytest.param("get_order", None, id="a-read"),
        pytest.param("get_oder", "there is no tool 'get_oder'", id="a-tool-that-is-none"),
        pytest.param("request_cancel", "'request_cancel' is of kind request", id="a-request"),
        pytest.param("confirm_action", "'confirm_action' is of kind confirm", id="a-confirm"),
        pytest.param("delete_order", "'delete_order' is of kind write", id="a-write"),
    ],
)
def test_only_reads_are_whitelisted(name: str, problem: str | None) -> None:
    found = told(faults(lines(entry(golden=golden(READ, allowed_extra=[name])))))

    assert len(found) == (problem is not None)
    assert problem is None or f"golden.allowed_extra: {problem}" in found[0]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param(
            {"instruction": "Else."}, ["1.jsonl:1: id: the same as in cases/0.jsonl:1"], id="an-id"
        ),
        pytest.param(
            {"id": "two"},
            ["1.jsonl:1: instruction: the same as in cases/0.jsonl:1"],
            id="an-instruction",
        ),
        pytest.param(
            {"id": "two", "instruction": "  WHERE is w1?\n"},
            ["1.jsonl:1: instruction: the same as in cases/0.jsonl:1"],
            id="an-instruction-but-for-blanks-around-and-case",
        ),
        pytest.param({"id": "two", "instruction": "Where  is W1?"}, [], id="blanks-inside-count"),
    ],
)
def test_nothing_stands_twice_in_two_files(changes: dict[str, Any], expected: list[str]) -> None:
    assert told(faults(lines(entry()), lines(entry(**changes)))) == expected


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        pytest.param([1, 2, 3], [], id="in-a-row"),
        pytest.param([7, 8], [], id="from-any-number-on"),
        pytest.param([2, 1, 3], [], id="in-any-order"),
        pytest.param(
            [1, 3], ["0.jsonl:2: id: 'fc-d1-003' comes next after 'fc-d1-001'"], id="with-a-gap"
        ),
    ],
)
def test_ids_of_a_dimension_are_consecutive(numbers: list[int], expected: list[str]) -> None:
    entries = [entry(id=f"fc-d1-{n:03}", instruction=f"Say {n}.") for n in numbers]
    other = entry(id="fc-d2-009", dimension="D2", instruction="Another dimension.")

    assert told(faults(lines(*entries), lines(other))) == expected


def test_faults_of_all_files_are_told_in_the_order_of_their_places() -> None:
    broken = golden({"tool": "no", "params": {}})
    first = lines(*numbered(entry(golden=broken), entry())) + "oops\n"
    second = lines(entry(id="case-2", instruction="Else.", golden=broken))

    assert [text.partition(": ")[0] for text in told(faults(first, second))] == [
        "0.jsonl:1",
        "0.jsonl:3",
        "1.jsonl:1",
        "1.jsonl:1",
    ]


def test_a_skipped_case_is_checked_like_any_other() -> None:
    data = entry(skip=True, skip_reason="Later.", golden=golden({"tool": "no", "params": {}}))

    assert faults(lines(data))


def test_a_checked_suite_knows_its_cases_by_file_and_line() -> None:
    quiet = entry(dimension="D3", golden=golden(allowed_extra=[]), negative=True)
    one, two, three = numbered(entry(), quiet, entry())

    suite = check(lines(one, two), lines(three))

    assert [(line, case.id) for line, case in suite.files["cases/0.jsonl"]] == [
        (1, "case-1"),
        (2, "case-2"),
    ]
    assert [case.id for case in suite.cases] == ["case-1", "case-2", "case-3"]
    assert suite.totals == {Dimension.D1: 2, Dimension.D3: 1}
    assert suite.negatives == 1
