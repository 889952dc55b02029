"""Case and trace in, verdict, codes and places out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fc_eval.domains.protocol import Domain
from fc_eval.judge.taxonomy import rank
from fc_eval.judge.verdict import judge_case, judge_rules_digest
from fc_eval.records.calls import Call
from fc_eval.records.case import Case, GoldenCall
from fc_eval.records.codec import canonical
from fc_eval.records.run import Status, Trace
from fc_eval.records.verdict import Judgement, Taxonomy, Verdict
from tests.judge.support import (
    DOMAIN,
    golden_call,
    golden_confirm,
    made,
    make_case,
    make_trace,
    requested,
)

T = Taxonomy
Codes = list[tuple[str, str]]

SHIP = golden_call("ship", order_id="W1")
REFUND = golden_call("refund", order_id="W2")
READ = golden_call("get_order", order_id="W1")
LIST_ORDERS = golden_call(
    "list_orders", {"placed_on": "normalized_date"}, user_id="U1", placed_on="2024-05-01"
)


def judge(case: Case, *calls: Call, domain: Domain = DOMAIN) -> Judgement:
    return judge_case(case, make_trace(*calls), domain)


def codes(judgement: Judgement) -> Codes:
    return [(mismatch.path, mismatch.code) for mismatch in judgement.diff]


@pytest.mark.parametrize(
    ("golden", "call", "expected"),
    [
        pytest.param(SHIP, made("ship", order_id="W1"), [], id="the-same"),
        pytest.param(
            SHIP,
            made("ship"),
            [("calls[0].order_id", T.PARAM_MISSING)],
            id="a-missing-parameter",
        ),
        pytest.param(
            SHIP,
            made("ship", order_id=1),
            [("calls[0].order_id", T.PARAM_WRONG_FORMAT)],
            id="schema-comes-before-identifiers",
        ),
        pytest.param(
            SHIP,
            made("ship", order_id="W9"),
            [("calls[0].order_id", T.PARAM_HALLUCINATED_ID)],
            id="identifiers-come-before-values",
        ),
        pytest.param(
            SHIP,
            made("ship", order_id="W2"),
            [("calls[0].order_id", T.PARAM_WRONG_VALUE)],
            id="another-value",
        ),
        pytest.param(
            SHIP,
            made("ship", order_id="W1", colour="red"),
            [("calls[0].colour", T.PARAM_WRONG_FORMAT)],
            id="a-parameter-that-the-schema-does-not-allow",
        ),
        pytest.param(
            SHIP,
            made("ship", order_id="W1", quantity="2"),
            [("calls[0].quantity", T.PARAM_WRONG_FORMAT)],
            id="an-extra-that-the-schema-refuses",
        ),
        pytest.param(
            SHIP,
            made("ship", order_id="W1", address={"city": "Ulm", "item_id": "I9"}),
            [("calls[0].address", T.PARAM_HALLUCINATED_ID)],
            id="an-extra-with-an-unknown-identifier-inside",
        ),
        pytest.param(SHIP, made("ship", order_id="W1", quantity=1.0), [], id="an-extra-default"),
        pytest.param(
            SHIP,
            made("ship", order_id="W1", quantity=2),
            [("calls[0].quantity", T.PARAM_UNEXPECTED)],
            id="an-extra-that-is-no-default",
        ),
        pytest.param(
            SHIP,
            made("ship", order_id="W1", note=None),
            [("calls[0].note", T.PARAM_UNEXPECTED)],
            id="an-extra-null-is-an-extra",
        ),
        pytest.param(
            golden_call("ship", order_id="W1", quantity=1),
            made("ship", order_id="W1"),
            [("calls[0].quantity", T.PARAM_MISSING)],
            id="a-golden-default-must-be-there",
        ),
        pytest.param(
            SHIP,
            made("ship", unreadable='{"order_id": '),
            [("calls[0]", T.PARAM_WRONG_FORMAT)],
            id="unreadable-arguments-are-one-fault",
        ),
        pytest.param(
            SHIP,
            replace(made("ship", order_id="W1"), parse_error="odd", arguments_raw="{}"),
            [],
            id="what-arguments-hold-decides",
        ),
        pytest.param(
            golden_call("ship", {"note": "any"}, order_id="W1", note="x"),
            made("ship", order_id="W1", note=None),
            [("calls[0].note", T.PARAM_MISSING)],
            id="null-under-any-is-missing",
        ),
        pytest.param(
            golden_call("ship", {"order_id": "any"}, order_id="W1"),
            made("ship", order_id=""),
            [("calls[0].order_id", T.PARAM_WRONG_FORMAT)],
            id="unless-the-schema-refuses-it",
        ),
        pytest.param(
            golden_call("ship", {"order_id": "any"}, order_id="W1"),
            made("ship", order_id="W9"),
            [("calls[0].order_id", T.PARAM_HALLUCINATED_ID)],
            id="any-still-asks-for-known-identifiers",
        ),
        pytest.param(
            golden_call(
                "list_orders",
                {"placed_on": "normalized_date"},
                user_id="U1",
                placed_on="2024-05-01",
            ),
            made("list_orders", user_id="U1", placed_on="1 May"),
            [("calls[0].placed_on", T.PARAM_WRONG_FORMAT)],
            id="a-date-that-is-none",
        ),
        pytest.param(
            golden_call("ship", order_id="W1", quantity=2, tags=["a"]),
            made("ship", note="n", order_id="W2", colour=1, anything=1),
            [
                ("calls[0].order_id", T.PARAM_WRONG_VALUE),
                ("calls[0].quantity", T.PARAM_MISSING),
                ("calls[0].tags", T.PARAM_MISSING),
                ("calls[0].anything", T.PARAM_UNEXPECTED),
                ("calls[0].colour", T.PARAM_WRONG_FORMAT),
                ("calls[0].note", T.PARAM_UNEXPECTED),
            ],
            id="golden-fields-first-then-extras-by-name",
        ),
        pytest.param(
            golden_call("pick", a=1),
            made("pick", a=1, b=1),
            [("calls[0]", T.PARAM_WRONG_FORMAT)],
            id="a-schema-fault-of-the-whole-with-right-fields",
        ),
        pytest.param(
            golden_call("pick", a=1),
            made("pick", a=2, b=1),
            [("calls[0].a", T.PARAM_WRONG_VALUE)],
            id="a-schema-fault-of-the-whole-beside-a-wrong-field",
        ),
        pytest.param(
            golden_call("label", a=1),
            made("label", a=1, x1="s", x2=2, b=1),
            [
                ("calls[0].b", T.PARAM_WRONG_FORMAT),
                ("calls[0].x1", T.PARAM_UNEXPECTED),
                ("calls[0].x2", T.PARAM_WRONG_FORMAT),
            ],
            id="what-a-pattern-allows-is-not-refused",
        ),
        pytest.param(
            golden_call("label", a=1),
            made("label", a=1, x123="s"),
            [("calls[0].x123", T.PARAM_WRONG_FORMAT)],
            id="a-name-that-the-schema-refuses",
        ),
    ],
)
def test_fields_of_a_pair(golden: GoldenCall, call: Call, expected: Codes) -> None:
    assert codes(judge(make_case(golden), call)) == expected


def deep_value(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = {"x": value}
    return value


def test_a_value_that_is_nested_without_end_is_no_crash() -> None:
    call = made("ship", order_id=deep_value(20_000), anything=deep_value(20_000))

    judgement = judge(make_case(SHIP), call)

    assert codes(judgement) == [
        ("calls[0].order_id", T.PARAM_WRONG_FORMAT),
        ("calls[0].anything", T.PARAM_WRONG_FORMAT),
    ]


def test_a_number_without_end_is_no_crash() -> None:
    call = made("ship", order_id=10**5_000, anything={"x": [-(10**5_000)]})

    assert codes(judge(make_case(SHIP), call)) == [
        ("calls[0].order_id", T.PARAM_WRONG_FORMAT),
        ("calls[0].anything", T.PARAM_WRONG_FORMAT),
    ]


@pytest.mark.parametrize(
    ("expected_case", "path"),
    [
        pytest.param(make_case(READ), "calls[0]", id="against-a-golden-call"),
        pytest.param(make_case(), "actual[0]", id="left-over"),
    ],
)
def test_a_readable_call_without_a_name_is_of_an_unknown_tool(
    expected_case: Case, path: str
) -> None:
    call = replace(made(None), arguments={"order_id": "W1"})

    assert codes(judge(expected_case, call)) == [(path, T.TOOL_HALLUCINATED)]


@pytest.mark.parametrize(
    ("case", "calls", "expected"),
    [
        pytest.param(make_case(SHIP), [], [("calls[0]", T.CALL_MISSING)], id="nothing-was-called"),
        pytest.param(
            make_case(),
            [made("ship", order_id="W1")],
            [("actual[0]", T.CALL_UNEXPECTED)],
            id="nothing-was-due",
        ),
        pytest.param(
            make_case(SHIP),
            [made("refund", order_id="W1")],
            [("calls[0]", T.TOOL_WRONG)],
            id="another-tool-of-the-kind",
        ),
        pytest.param(
            make_case(SHIP),
            [made("log", text="x")],
            [("calls[0]", T.TOOL_WRONG)],
            id="a-write-counts-as-a-request",
        ),
        pytest.param(
            make_case(SHIP),
            [made("get_order", order_id="W1")],
            [("calls[0]", T.CALL_MISSING), ("actual[0]", T.CALL_UNEXPECTED)],
            id="a-tool-of-another-kind-is-one-missing-and-one-too-many",
        ),
        pytest.param(
            make_case(READ),
            [made("get_ordr", order_id="W1")],
            [("calls[0]", T.TOOL_HALLUCINATED)],
            id="an-unknown-tool-stands-for-any-kind",
        ),
        pytest.param(
            make_case(),
            [made("get_ordr")],
            [("actual[0]", T.TOOL_HALLUCINATED)],
            id="an-unknown-tool-where-nothing-was-due",
        ),
        pytest.param(
            make_case(READ),
            [made("")],
            [("calls[0]", T.TOOL_HALLUCINATED)],
            id="an-empty-name-is-an-unknown-tool",
        ),
        pytest.param(
            make_case(READ),
            [made(None)],
            [("calls[0]", T.PARAM_WRONG_FORMAT)],
            id="a-broken-call-without-a-name",
        ),
        pytest.param(
            make_case(),
            [made(None)],
            [("actual[0]", T.PARAM_WRONG_FORMAT)],
            id="a-broken-call-where-nothing-was-due",
        ),
        pytest.param(
            make_case(READ),
            [made("get_order", order_id="W1"), made("get_order", order_id="W1")],
            [("actual[1]", T.CALL_UNEXPECTED)],
            id="the-same-call-twice",
        ),
        pytest.param(
            make_case(READ),
            [made("get_order", order_id="W2"), made("get_order", order_id="W1")],
            [("actual[0]", T.CALL_UNEXPECTED)],
            id="a-wrong-call-corrected-later-is-left-over",
        ),
        pytest.param(
            make_case(SHIP, READ),
            [made("x"), made("get_user", user_id="U1"), made("y")],
            [
                ("calls[0]", T.TOOL_HALLUCINATED),
                ("calls[1]", T.TOOL_WRONG),
                ("actual[2]", T.TOOL_HALLUCINATED),
            ],
            id="laid-in-order-one-for-one",
        ),
        pytest.param(
            make_case(READ, allowed=("get_user",)),
            [made("get_user", user_id="U1")],
            [("calls[0]", T.CALL_MISSING)],
            id="an-excused-read-stands-for-nothing",
        ),
        pytest.param(
            make_case(SHIP, READ),
            [made("get_order", order_id="W1"), made("ship", order_id="W1")],
            [],
            id="order-does-not-count-unless-it-shall",
        ),
    ],
)
def test_missing_wrong_and_extra_calls(case: Case, calls: list[Call], expected: Codes) -> None:
    assert codes(judge(case, *calls)) == expected


@pytest.mark.parametrize(
    ("case", "calls", "expected"),
    [
        pytest.param(
            make_case(READ, SHIP, ordered=True),
            [made("get_order", order_id="W1"), made("ship", order_id="W1")],
            [],
            id="golden-order",
        ),
        pytest.param(
            make_case(READ, SHIP, ordered=True),
            [made("ship", order_id="W1"), made("get_order", order_id="W1")],
            [("calls", T.ORDER_WRONG)],
            id="all-right-in-another-order",
        ),
        pytest.param(
            make_case(READ, SHIP, ordered=True),
            [made("ship", order_id="W1"), made("get_order", order_id="W1"), made("x")],
            [("calls", T.ORDER_WRONG), ("actual[2]", T.TOOL_HALLUCINATED)],
            id="another-order-and-one-too-many",
        ),
        pytest.param(
            make_case(READ, SHIP, ordered=True),
            [
                made("ship", order_id="W1"),
                made("get_order", order_id="W1"),
                made("ship", order_id="W1"),
            ],
            [("actual[0]", T.CALL_UNEXPECTED)],
            id="a-pair-in-order-is-preferred-to-an-early-one",
        ),
        pytest.param(
            make_case(READ, SHIP, ordered=True),
            [made("ship", order_id="W2"), made("get_order", order_id="W1")],
            [("calls[1]", T.ORDER_WRONG), ("calls[1].order_id", T.PARAM_WRONG_VALUE)],
            id="out-of-order-and-different",
        ),
        pytest.param(
            make_case(READ, SHIP, ordered=True),
            [made("ship", order_id="W1"), made("get_order", order_id="W2")],
            [("calls[0]", T.ORDER_WRONG), ("calls[0].order_id", T.PARAM_WRONG_VALUE)],
            id="the-exact-pair-stays-and-the-other-is-out-of-order",
        ),
        pytest.param(
            make_case(SHIP, READ, ordered=True, allowed=("get_order",)),
            [made("get_order", order_id="W2"), made("ship", order_id="W1")],
            [("calls[1]", T.ORDER_WRONG), ("calls[1].order_id", T.PARAM_WRONG_VALUE)],
            id="an-allowed-read-can-be-the-one-out-of-order",
        ),
    ],
)
def test_order(case: Case, calls: list[Call], expected: Codes) -> None:
    assert codes(judge(case, *calls)) == expected


CHAIN = make_case(SHIP, golden_confirm(), ordered=True)


@pytest.mark.parametrize(
    ("case", "calls", "expected"),
    [
        pytest.param(
            CHAIN,
            [requested("ship", "a", order_id="W1"), made("confirm", action_id="a")],
            [],
            id="connected",
        ),
        pytest.param(
            CHAIN,
            [requested("ship", "a", order_id="W1")],
            [("calls[1]", T.CHAIN_INCOMPLETE)],
            id="requested-and-never-confirmed",
        ),
        pytest.param(
            CHAIN,
            [requested("ship", "a", order_id="W2")],
            [("calls[0].order_id", T.PARAM_WRONG_VALUE), ("calls[1]", T.CHAIN_INCOMPLETE)],
            id="a-wrong-request-begins-a-chain-too",
        ),
        pytest.param(
            CHAIN,
            [],
            [("calls[0]", T.CALL_MISSING), ("calls[1]", T.CALL_MISSING)],
            id="a-chain-that-never-began",
        ),
        pytest.param(
            CHAIN,
            [requested("refund", "a", order_id="W1")],
            [("calls[0]", T.TOOL_WRONG), ("calls[1]", T.CALL_MISSING)],
            id="a-wrong-tool-begins-no-chain",
        ),
        pytest.param(
            CHAIN,
            [requested("ship", "a", order_id="W1"), made("abort", action_id="a")],
            [("calls[1]", T.TOOL_WRONG)],
            id="aborted-where-confirming-was-due",
        ),
        pytest.param(
            CHAIN,
            [requested("ship", "a", order_id="W1"), made("confirm", action_id="b")],
            [("calls[1].action_id", T.CHAIN_DISCONNECTED)],
            id="an-action-that-the-request-did-not-return",
        ),
        pytest.param(
            CHAIN,
            [made("ship", fails="X", order_id="W1"), made("confirm", action_id="a")],
            [("calls[1].action_id", T.CHAIN_DISCONNECTED)],
            id="a-refused-request-connects-to-nothing",
        ),
        pytest.param(
            CHAIN,
            [requested("ship", "a", order_id="W1"), made("confirm")],
            [("calls[1].action_id", T.PARAM_MISSING)],
            id="a-field-with-a-code-gets-no-second-one",
        ),
        pytest.param(
            CHAIN,
            [requested("ship", "a", order_id="W1"), made("confirm", unreadable="x")],
            [("calls[1]", T.PARAM_WRONG_FORMAT)],
            id="neither-does-a-call-with-a-code",
        ),
        pytest.param(
            CHAIN,
            [requested("ship", "a", order_id="W1"), made("confirm", action_id="b", note=1)],
            [("calls[1].note", T.PARAM_UNEXPECTED), ("calls[1].action_id", T.CHAIN_DISCONNECTED)],
            id="another-field-with-a-code-does-not-count",
        ),
        pytest.param(
            CHAIN,
            [made("confirm", action_id="a"), requested("ship", "b", order_id="W1")],
            [("calls", T.ORDER_WRONG), ("calls[1].action_id", T.CHAIN_DISCONNECTED)],
            id="confirmed-before-it-was-requested",
        ),
        pytest.param(
            CHAIN,
            [made("confirm", action_id="a", note=1), requested("ship", "b", order_id="W1")],
            [("calls[1]", T.ORDER_WRONG), ("calls[1].note", T.PARAM_UNEXPECTED)],
            id="a-call-out-of-order-has-its-code",
        ),
        pytest.param(
            CHAIN,
            [made("confirm", action_id="a"), requested("ship", "b", order_id="W2")],
            [
                ("calls[0]", T.ORDER_WRONG),
                ("calls[0].order_id", T.PARAM_WRONG_VALUE),
                ("calls[1].action_id", T.CHAIN_DISCONNECTED),
            ],
            id="a-request-out-of-order-has-a-pair",
        ),
        pytest.param(
            make_case(SHIP, golden_confirm(), REFUND, golden_confirm()),
            [
                requested("ship", "a", order_id="W1"),
                requested("refund", "b", order_id="W2"),
                made("confirm", action_id="b"),
                made("confirm", action_id="a"),
            ],
            [],
            id="confirms-are-paired-with-their-own-requests",
        ),
        pytest.param(
            make_case(SHIP, golden_confirm(), REFUND, golden_confirm()),
            [
                requested("ship", "a", order_id="W1"),
                requested("refund", "b", order_id="W2"),
                made("confirm", action_id="b"),
            ],
            [("calls[1]", T.CHAIN_INCOMPLETE)],
            id="the-chain-that-lacks-its-confirm-is-named",
        ),
        pytest.param(
            make_case(SHIP, golden_confirm()),
            [
                requested("ship", "a", order_id="W1"),
                requested("ship", "b", order_id="W1"),
                made("confirm", action_id="b"),
            ],
            [("actual[0]", T.CALL_UNEXPECTED)],
            id="a-connected-request-is-preferred-to-an-earlier-one",
        ),
        pytest.param(
            make_case(SHIP),
            [made("ship", fails="X", order_id="W1"), requested("ship", "a", order_id="W1")],
            [("actual[0]", T.CALL_UNEXPECTED)],
            id="a-call-that-worked-is-preferred-to-a-failed-one",
        ),
    ],
)
def test_chains(case: Case, calls: list[Call], expected: Codes) -> None:
    assert codes(judge(case, *calls)) == expected


def test_the_domain_names_the_link() -> None:
    domain = replace(DOMAIN, link="note")
    case = make_case(
        SHIP, golden_call("confirm", {"action_id": "any", "note": "any"}, action_id="x", note="x")
    )
    request = made("ship", returns={"note": "n"}, order_id="W1")

    right = judge(case, request, made("confirm", action_id="b", note="n"), domain=domain)
    wrong = judge(case, request, made("confirm", action_id="b", note="m"), domain=domain)

    assert codes(right) == []
    assert codes(wrong) == [("calls[1].note", T.CHAIN_DISCONNECTED)]


@pytest.mark.parametrize(
    ("allowed", "call", "passes"),
    [
        pytest.param(None, made("get_user", user_id="U1"), True, id="default-allows-get-user"),
        pytest.param(
            None, made("list_orders", user_id="U1"), True, id="default-allows-list-orders"
        ),
        pytest.param(None, made("get_order", order_id="W1"), False, id="default-allows-no-more"),
        pytest.param((), made("get_user", user_id="U1"), False, id="an-empty-list-is-strict"),
        pytest.param(
            ("get_order",), made("get_user", user_id="U1"), False, id="a-list-replaces-the-default"
        ),
        pytest.param(("get_order",), made("get_order", order_id="W1"), True, id="a-named-read"),
        pytest.param(
            ("get_order",), made("get_order", fails="X", order_id="W1"), False, id="a-failed-read"
        ),
        pytest.param(("get_order",), made("get_order", order_id="W9"), False, id="an-unknown-id"),
        pytest.param(("get_order",), made("get_order", order_id=1), False, id="schema-invalid"),
        pytest.param(("get_order",), made("get_order"), False, id="a-missing-parameter"),
        pytest.param(("get_order",), made("get_order", unreadable="{"), False, id="unreadable"),
        pytest.param(("ship",), made("ship", order_id="W1"), False, id="a-named-request"),
        pytest.param(("log",), made("log", text="x"), False, id="a-named-write"),
        pytest.param(("confirm",), made("confirm", action_id="a"), False, id="a-named-confirm"),
        pytest.param(("get_ordr",), made("get_ordr"), False, id="a-named-unknown-tool"),
    ],
)
def test_whitelist(allowed: tuple[str, ...] | None, call: Call, passes: bool) -> None:
    judgement = judge(make_case(allowed=allowed), call)

    assert (judgement.verdict is Verdict.PASS) is passes
    assert len(judgement.warnings) == passes


def test_a_read_that_golden_needs_is_never_filtered_away() -> None:
    case = make_case(golden_call("get_user", user_id="U1"), allowed=None)

    assert judge(case, made("get_user", user_id="U1")).warnings == ()


def test_a_right_call_that_was_refused_is_a_warning() -> None:
    judgement = judge(make_case(SHIP), made("ship", fails="NOT_FOUND", order_id="W1"))

    assert judgement.verdict is Verdict.PASS
    assert judgement.warnings == (
        "actual[0] ship is right, and was refused all the same: NOT_FOUND: refused",
    )


@pytest.mark.parametrize(
    ("skip", "status", "verdict"),
    [
        pytest.param(True, Status.COMPLETED, Verdict.SKIP, id="a-skipped-case"),
        pytest.param(True, Status.AGENT_ERROR, Verdict.SKIP, id="skip-comes-before-an-error"),
        pytest.param(False, Status.AGENT_ERROR, Verdict.AGENT_ERROR, id="an-agent-error"),
        pytest.param(False, Status.SKIPPED, Verdict.SKIP, id="a-skipped-trace"),
        pytest.param(False, Status.COMPLETED, Verdict.FAIL, id="a-judged-trace"),
    ],
)
def test_what_comes_before_judging(skip: bool, status: Status, verdict: Verdict) -> None:
    judgement = judge_case(make_case(SHIP, skip=skip), make_trace(status=status), DOMAIN)

    assert judgement.verdict is verdict
    assert bool(judgement.taxonomies) is (verdict is Verdict.FAIL)


def test_faults_before_an_agent_error_are_noted() -> None:
    trace = make_trace(*[made("x")] * 9, status=Status.AGENT_ERROR)

    judgement = judge_case(make_case(SHIP), trace, DOMAIN)

    assert judgement.taxonomies == ()
    assert len(judgement.warnings) == 6
    assert judgement.warnings[0].startswith("before the error: TOOL_HALLUCINATED calls[0]")
    assert judgement.warnings[-1] == "before the error: 4 more faults"


def test_a_trace_of_another_case_is_refused() -> None:
    trace = replace(make_trace(), case_id="shop-2")

    with pytest.raises(ValueError, match="shop-2"):
        judge_case(make_case(), trace, DOMAIN)


def test_codes_are_unique_and_ranked() -> None:
    assert rank(reversed([*Taxonomy, *Taxonomy])) == tuple(code.value for code in Taxonomy)
    judgement = judge(
        make_case(SHIP, golden_confirm()),
        requested("ship", "a", order_id="W9", quantity=2, note="n"),
        made("x"),
        made("get_order"),
    )
    assert judgement.taxonomy == T.TOOL_HALLUCINATED
    assert judgement.taxonomies == (
        T.TOOL_HALLUCINATED,
        T.PARAM_HALLUCINATED_ID,
        T.PARAM_UNEXPECTED,
        T.CALL_UNEXPECTED,
    )


@pytest.mark.parametrize(
    ("golden", "call", "message"),
    [
        pytest.param(
            SHIP, made("ship", order_id="W2"), "order_id is 'W2', expected 'W1'", id="wrong-value"
        ),
        pytest.param(
            SHIP,
            made("ship", order_id="W9"),
            "order_id is 'W9', and no such identifier exists",
            id="hallucinated-id",
        ),
        pytest.param(SHIP, made("ship"), "order_id is missing, expected 'W1'", id="missing"),
        pytest.param(
            SHIP,
            made("ship", order_id="W1", quantity="2"),
            "quantity is '2', which the schema of ship refuses (type: 'integer')",
            id="schema",
        ),
        pytest.param(
            SHIP,
            made("ship", order_id="W1", address={"city": "", "item_id": "I1"}),
            'address is {"city": "", "item_id": "I1"}, '
            "which the schema of ship refuses at address.city (minLength)",
            id="schema-inside",
        ),
        pytest.param(
            SHIP,
            made("ship", order_id="W1", x="\x1b[2J"),
            r"x is '\x1b[2J', and ship has no such parameter",
            id="not-allowed",
        ),
        pytest.param(
            SHIP,
            made("ship", unreadable="{"),
            "the arguments of ship are no JSON object: not JSON",
            id="unreadable",
        ),
        pytest.param(
            READ,
            made("get\u200b_order"),
            r"get\u200b_order, which is no tool, was called (actual[0]), expected get_order",
            id="hallucinated-tool",
        ),
    ],
)
def test_messages(golden: GoldenCall, call: Call, message: str) -> None:
    assert judge(make_case(golden), call).diff[0].message == message


def test_the_digest_of_the_rules_is_a_hash() -> None:
    assert len(judge_rules_digest()) == 64
    assert judge_rules_digest() == judge_rules_digest()


ORDERS = st.sampled_from(["W1", "W2", "W3"])
ACTIONS = st.sampled_from("ab")
BROKEN = [made("nope"), made(None), made("ship", unreadable="{"), made("abort", unreadable="x")]
GOLDEN = st.lists(
    st.one_of(
        st.builds(lambda order: (golden_call("ship", order_id=order), golden_confirm()), ORDERS),
        st.builds(
            lambda order: (golden_call("refund", order_id=order), golden_confirm("abort")), ORDERS
        ),
        st.builds(lambda order: (golden_call("get_order", order_id=order),), ORDERS),
        st.just((golden_call("log", {"text": "contains"}, text="x"),)),
    ),
    max_size=4,
).map(lambda groups: [call for group in groups for call in group])
CALLS = st.lists(
    st.one_of(
        st.builds(
            lambda order, action: requested("ship", action, order_id=order),
            ORDERS,
            ACTIONS,
        ),
        st.builds(lambda action: made("confirm", action_id=action), ACTIONS),
        st.builds(lambda order: made("get_order", order_id=order), st.sampled_from(["W1", "W9"])),
        st.builds(lambda: made("get_user", user_id="U1")),
        st.sampled_from([*BROKEN, made("log", text="xy")]),
    ),
    max_size=7,
)


def replay(golden: list[GoldenCall]) -> list[Call]:
    """What an agent does that does just what is asked for."""
    calls: list[Call] = []
    actions: list[str] = []
    for number, call in enumerate(golden):
        if "action_id" in call.params:
            calls.append(made(call.tool, action_id=actions.pop()))
            continue
        actions.append(f"action {number}")
        calls.append(requested(call.tool, actions[-1], **call.params))
    return calls


@settings(deadline=None, max_examples=60)
@given(golden=GOLDEN, ordered=st.booleans())
def test_doing_what_is_asked_for_passes(golden: list[GoldenCall], ordered: bool) -> None:
    assert judge(make_case(*golden, ordered=ordered), *replay(golden)).verdict is Verdict.PASS


@settings(deadline=None, max_examples=60)
@given(golden=GOLDEN, calls=CALLS, ordered=st.booleans())
def test_the_same_inputs_give_the_same_bytes(
    golden: list[GoldenCall], calls: list[Call], ordered: bool
) -> None:
    case, trace = make_case(*golden, ordered=ordered), make_trace(*calls)

    first = judge_case(case, trace, DOMAIN)
    again = judge_case(Case.from_dict(case.to_dict()), Trace.from_dict(trace.to_dict()), DOMAIN)

    assert canonical(first.to_dict()) == canonical(again.to_dict())
    assert first.taxonomies == rank(mismatch.code for mismatch in first.diff)
    assert (first.verdict is Verdict.PASS) is (first.diff == ())


@settings(deadline=None, max_examples=60)
@given(golden=GOLDEN, calls=CALLS, random=st.randoms())
def test_order_does_not_change_an_unordered_verdict(
    golden: list[GoldenCall], calls: list[Call], random: Any
) -> None:
    case = make_case(*golden)
    shuffled = list(calls)
    random.shuffle(shuffled)

    assert judge(case, *shuffled).verdict is judge(case, *calls).verdict


@settings(deadline=None, max_examples=60)
@given(golden=GOLDEN, calls=CALLS, ordered=st.booleans(), data=st.data())
def test_a_forbidden_call_never_saves_a_case(
    golden: list[GoldenCall], calls: list[Call], ordered: bool, data: st.DataObject
) -> None:
    case = make_case(*golden, ordered=ordered, allowed=("get_user",))
    forbidden = data.draw(st.sampled_from(BROKEN))
    place = data.draw(st.integers(0, len(calls)))

    assert judge(case, *calls[:place], forbidden, *calls[place:]).verdict is Verdict.FAIL
