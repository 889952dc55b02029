"""Whose fault a verdict is, and which values were nearly right."""

from __future__ import annotations

from typing import Any

import pytest

from fc_eval.records.calls import Call
from fc_eval.records.case import Case, Context, Dimension, Golden, GoldenCall, ParamRule
from fc_eval.records.flags import Flag
from fc_eval.records.run import ErrorKind, Fault, RunError, Status, Trace
from fc_eval.records.verdict import Judgement, Taxonomy, Verdict
from fc_eval.report.faults import fault_of, golden_flags


def _case(rule: ParamRule = ParamRule.EXACT, **params: Any) -> Case:
    golden = GoldenCall(tool="t", params=params, param_rules=dict.fromkeys(params, rule))
    return Case(
        id="one",
        dimension=Dimension.D2,
        category="c",
        instruction="i",
        context=Context(db_fixture="standard", notes="-"),
        golden=Golden(calls=(golden,), order_sensitive=False),
        negative=False,
        skip=False,
        skip_reason=None,
    )


def _trace(*calls: Call, **more: Any) -> Trace:
    return Trace(case_id="one", **{"status": Status.COMPLETED, "calls": calls, **more})


def _call(*flags: str, **arguments: Any) -> Call:
    return Call(index=0, step=1, call_id="c", tool="t", arguments=arguments, flags=flags)


def _fail(*codes: Taxonomy) -> Judgement:
    return Judgement(verdict=Verdict.FAIL, taxonomies=codes or (Taxonomy.PARAM_WRONG_VALUE,))


MISSING = _fail(Taxonomy.CALL_MISSING)


@pytest.mark.parametrize(
    ("trace", "judgement", "fault"),
    [
        pytest.param(_trace(), Judgement(verdict=Verdict.PASS), None, id="a-pass"),
        pytest.param(_trace(), Judgement(verdict=Verdict.SKIP), None, id="a-skip"),
        pytest.param(_trace(_call(a=1)), _fail(), Fault.MODEL, id="a-wrong-value"),
        pytest.param(
            _trace(_call(Flag.DOUBLE_ENCODED)), _fail(), Fault.UNCLEAR, id="encoded-twice"
        ),
        pytest.param(_trace(_call(Flag.GLUED_NAME)), _fail(), Fault.UNCLEAR, id="glued-names"),
        pytest.param(_trace(_call(Flag.NEAR_MISS_NAME)), _fail(), Fault.MODEL, id="a-near-name"),
        pytest.param(_trace(_call(Flag.FINISH_LENGTH)), _fail(), Fault.CLIENT, id="the-limit"),
        pytest.param(_trace(_call(a="1")), _fail(), Fault.UNCLEAR, id="a-number-as-text"),
        pytest.param(_trace(), MISSING, Fault.MODEL, id="no-call"),
        pytest.param(
            _trace(flags=(Flag.TEXT_ENCODED_CALL,)), MISSING, Fault.UNCLEAR, id="a-call-as-text"
        ),
        pytest.param(
            _trace(flags=(Flag.FINISH_LENGTH,)), MISSING, Fault.CLIENT, id="cut-before-the-call"
        ),
        pytest.param(
            _trace(flags=(Flag.FINISH_MISMATCH,)), MISSING, Fault.UNCLEAR, id="a-call-announced"
        ),
        pytest.param(
            _trace(_call(a=2), flags=(Flag.FINISH_LENGTH,)), _fail(), Fault.MODEL, id="cut-after-it"
        ),
        pytest.param(_trace(flags=(Flag.REFUSAL,)), MISSING, Fault.MODEL, id="a-refusal"),
    ],
)
def test_fault_of(trace: Trace, judgement: Judgement, fault: Fault | None) -> None:
    assert fault_of(_case(a=1), trace, judgement) is fault


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        pytest.param(("auth", None), Fault.CLIENT, id="by-its-code"),
        pytest.param(("timeout", None), Fault.TRANSPORT, id="by-another-code"),
        pytest.param(("request_rejected", Fault.PROVIDER), Fault.PROVIDER, id="by-its-own-word"),
        pytest.param(("of-another-tool", None), Fault.UNCLEAR, id="an-unknown-code"),
    ],
)
def test_the_fault_of_an_agent_error(error: tuple[str, Fault | None], fault: Fault) -> None:
    code, own = error
    run_error = RunError(kind=ErrorKind.API_ERROR, code=code, message="-", fault=own)
    trace = _trace(status=Status.AGENT_ERROR, error=run_error)

    assert fault_of(_case(), trace, Judgement(verdict=Verdict.AGENT_ERROR)) is fault


VALUE, TYPE = (Flag.NEAR_MISS_VALUE,), (Flag.NEAR_MISS_TYPE,)


@pytest.mark.parametrize(
    ("golden", "actual", "flags"),
    [
        pytest.param("W441", "W441", (), id="equal"),
        pytest.param("W441", "W442", (), id="another-value"),
        pytest.param("W441", "w441", VALUE, id="another-case"),
        pytest.param("W441", "W441.", VALUE, id="a-full-stop"),
        pytest.param("W441", "W\u200b441", VALUE, id="an-invisible-character"),
        pytest.param("W441", "Ｗ４４１", VALUE, id="full-width"),
        pytest.param("a & b", "a &amp; b", VALUE, id="an-entity"),
        pytest.param("2024-05-01", "2024/5/1", VALUE, id="another-form-of-a-date"),
        pytest.param("2024-05-01", "01.05.2024", VALUE, id="the-day-first"),
        pytest.param("2024-05-01", "2024-05-02", (), id="another-day"),
        pytest.param("!", "?", (), id="nothing-but-punctuation"),
        pytest.param(2, "2", TYPE, id="a-number-as-text"),
        pytest.param("2", 2, TYPE, id="a-text-as-number"),
        pytest.param(True, "True", TYPE, id="a-boolean-as-text"),
        pytest.param(["a"], '["a"]', TYPE, id="a-list-as-text"),
        pytest.param(2, "two", (), id="a-word"),
        pytest.param(2, 3, (), id="another-number"),
        pytest.param("W441", 441, (), id="a-part-of-a-text-as-number"),
    ],
)
def test_near_misses(golden: Any, actual: Any, flags: tuple[Flag, ...]) -> None:
    assert golden_flags(_case(a=golden), _trace(_call(a=actual))) == flags


@pytest.mark.parametrize(
    ("rule", "actual"),
    [
        pytest.param(ParamRule.NORMALIZED_STR, " W441 ", id="equal-under-its-rule"),
        pytest.param(ParamRule.ANY, "w441", id="under-any-nothing-is-near"),
    ],
)
def test_a_value_that_is_right_is_no_near_miss(rule: ParamRule, actual: str) -> None:
    assert golden_flags(_case(rule, a="W441"), _trace(_call(a=actual))) == ()


def test_only_calls_of_the_same_tool_are_compared() -> None:
    other = Call(index=0, step=1, call_id="c", tool="u", arguments={"a": "w1"})
    unread = Call(index=1, step=1, call_id="d", tool="t", arguments=None)

    assert golden_flags(_case(a="W1"), _trace(other, unread)) == ()
