"""What a reader of a FAIL sees."""

from __future__ import annotations

from typing import Any

import pytest

from fc_eval.judge.diff import render_diff
from fc_eval.judge.verdict import judge_case
from fc_eval.records.calls import Call
from fc_eval.records.case import Case
from fc_eval.records.text import columns
from tests.judge.support import (
    DOMAIN,
    golden_call,
    golden_confirm,
    made,
    make_case,
    make_trace,
    requested,
)

SHIP = golden_call("ship", order_id="W1", tags=["a", "b"])
EVIL = "\x1b[2J\u202e\u200b\ud800\r\n"


def render(case: Case, *calls: Call, text: str | None = "Done.", **options: Any) -> list[str]:
    trace = make_trace(*calls, text=text)
    return render_diff(case, trace, judge_case(case, trace, DOMAIN), **options)


def test_a_whole_page() -> None:
    case = make_case(SHIP, golden_confirm(), ordered=True, allowed=None)
    lines = render(
        case,
        made("get_user", user_id="U1", returns={"name": "Ann"}),
        requested("ship", "a", order_id="W2", tags=["a", "c"]),
        made("nope", fails="UNKNOWN_TOOL"),
    )

    assert lines == [
        "FAIL TOOL_HALLUCINATED, PARAM_WRONG_VALUE",
        "instruction: Ship W1.",
        "golden, in this order                            │ actual",
        "calls[0] ship                                    │ actual[1] ship",
        "  order_id: 'W1'                                 │   order_id: 'W2'",
        '  tags: ["a", "b"]                               │   tags: ["a", "c"]',
        " ≠ PARAM_WRONG_VALUE calls[0].order_id: order_id is 'W2', expected 'W1'",
        ' ≠ PARAM_WRONG_VALUE calls[0].tags: tags is ["a", "c"], expected ["a", "b"]',
        ' ≠ Value of root[1] changed from "b" to "c".',
        "calls[1] confirm                                 │ (no such call)",
        "  action_id: '<from the request>' (any)          │",
        " ≠ TOOL_HALLUCINATED calls[1]: nope, which is no tool, was called (actual[2]), "
        "expected confirm",
        "                                                 │ actual[0] get_user",
        "                                                 │   user_id: 'U1'",
        "                                                 │ actual[2] nope",
        "also allowed: get_user, list_orders, get_return_policy",
        "trace: calls 3, answers of the model 4",
        '  [0] get_user {"user_id": "U1"} -> {"name": "Ann"}',
        '  [1] ship {"order_id": "W2", "tags": ["a", "c"]} -> '
        '{"action_id": "a", "status": "pending"}',
        "  [2] nope {} -> error UNKNOWN_TOOL: refused",
        "final text: Done.",
        "note: actual[0] get_user was ignored: a read that the case allows",
    ]


@pytest.mark.parametrize("verbose", [False, True], ids=["short", "whole"])
def test_no_character_of_the_model_reaches_the_terminal(verbose: bool) -> None:
    case = make_case(SHIP, instruction=f"Ship{EVIL}")
    calls = [
        made(f"ship{EVIL}"),
        made("ship", unreadable=EVIL),
        made("ship", fails=EVIL, returns=EVIL, **{EVIL: EVIL, "order_id": EVIL}),
    ]

    page = "\n".join(render(case, *calls, text=EVIL, verbose=verbose))

    assert all(line.isprintable() for line in page.split("\n"))
    assert r"\x1b[2J\u202e\u200b\ud800\r\n" in page


@pytest.mark.parametrize("width", [40, 80, 100])
def test_short_lines_keep_their_width(width: int) -> None:
    case = make_case(
        golden_call("ship", order_id="W1", note="送到北京市" * 30), instruction="送" * 999
    )

    lines = render(case, made("ship", order_id="订单" * 99), width=width, text="好" * 999)

    assert all(columns(line) <= width for line in lines)


def test_verbose_shows_values_whole() -> None:
    case = make_case(golden_call("ship", order_id="W1", note="n"))

    page = "".join(
        line.strip()
        for line in render(case, made("ship", order_id="W1", note="x" * 500), verbose=True)
    )

    assert "x" * 500 in page


def test_a_long_trace_is_shortened() -> None:
    lines = render(make_case(), *[made("nope")] * 50)

    assert "  … and 38 more" in lines


def test_the_final_text_may_be_none() -> None:
    assert "final text: none" in render(make_case(SHIP), text=None)


def test_values_nested_without_end_are_no_crash() -> None:
    value: Any = {}
    for _ in range(5_000):
        value = {"x": value}

    assert render(make_case(SHIP), made("ship", order_id="W1", tags=value))


def test_the_same_inputs_give_the_same_lines() -> None:
    case = make_case(golden_call("ship", order_id="W1", address={"city": "Ulm", "note": [1, 2, 3]}))
    one = {"city": "Bonn", "note": [4, 3, 5], "item_id": "I1"}
    other = dict(reversed(one.items()))

    first = render(case, made("ship", order_id="W1", address=one))
    again = render(case, made("ship", order_id="W1", address=other))

    assert first == again
