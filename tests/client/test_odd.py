"""Every odd line, served over real HTTP: what is asked, recorded, waited and judged."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from fc_eval.judge.verdict import judge_case
from fc_eval.records.calls import Call
from fc_eval.records.codec import canonical, schema_errors
from fc_eval.records.run import Fault
from fc_eval.records.verdict import Taxonomy, Verdict
from fc_eval.report.faults import fault_of, golden_flags
from tests.client.odd_server import load_lines
from tests.client.support import Played, odd_domain, play

LINES = load_lines("odd.jsonl")


@pytest.fixture(scope="session")
def all_played() -> dict[str, Played]:
    return asyncio.run(play(LINES))


@pytest.fixture(params=list(LINES))
def played(request: pytest.FixtureRequest, all_played: dict[str, Played]) -> Played:
    key: str = request.param
    return all_played[key]


# The judging rules know a schema-invalid parameter that golden does not have as a wrong format.
OTHER_CODE = {"args-string-null-optional": Taxonomy.PARAM_WRONG_FORMAT}


def _told(call: Call) -> Mapping[str, Any]:
    if call.arguments is None:
        return {"name": call.tool, "args_error": bool(call.parse_error)}
    return {"name": call.tool, "args": call.arguments}


def test_the_verdict_and_its_code(played: Played) -> None:
    expected, trace = played.line["expected"], played.trace
    judgement = judge_case(played.case, trace, odd_domain())
    codes = (trace.error.code,) if trace.error else judgement.taxonomies or (None,)

    assert judgement.verdict == expected["verdict"]
    assert OTHER_CODE.get(played.line["key"], expected["code"]) in codes


def test_the_number_of_requests(played: Played) -> None:
    fewest, most = played.line["expected"]["requests"]

    assert fewest <= len(played.script.requests) <= most


def test_every_request_keeps_the_guards_of_strict_servers(played: Played) -> None:
    assert [request.guard for request in played.script.requests if request.guard] == []


def test_the_calls_are_recorded_as_they_came(played: Played) -> None:
    expected = played.line["expected"]["calls"]
    calls = played.trace.calls
    if isinstance(expected, str):
        assert {call.tool for call in calls} == {expected.partition(":")[2]}
    else:
        assert [_told(call) for call in calls] == expected


def test_the_flags(played: Played) -> None:
    trace = played.trace
    flags = {*trace.flags, *(flag for call in trace.calls for flag in call.flags)}
    flags |= set(golden_flags(played.case, trace))

    assert set(played.line["expected"].get("flags", ())) - flags == set()


def test_the_fault_of_what_did_not_pass(played: Played) -> None:
    judgement = judge_case(played.case, played.trace, odd_domain())
    fault = fault_of(played.case, played.trace, judgement)
    if judgement.verdict is Verdict.PASS:
        assert fault is None
    else:
        assert fault == Fault(played.line["expected"]["fault"])


def test_the_waits_before_repeats(played: Played) -> None:
    expected = played.line["expected"]
    waited = sum(attempt.wait_s or 0 for attempt in played.trace.attempts)
    # A moment that the server names comes nearer while its answer is on the way.
    on_the_way = 0.3

    assert waited >= expected.get("min_wait_s", 0) - on_the_way
    assert waited <= expected.get("max_wait_s", 60)


def test_a_repeat_is_the_same_request_byte_for_byte(played: Played) -> None:
    for attempt in played.trace.attempts:
        if attempt.wait_s is None:
            continue
        first, second = played.script.requests[:2]
        assert first.raw == second.raw


def test_the_final_text(played: Played) -> None:
    expected = played.line["expected"].get("final_text")
    if expected is not None:
        assert played.trace.final_text == expected


def test_the_trace_survives_its_own_json(played: Played) -> None:
    trace = played.trace

    assert type(trace).from_dict(json.loads(canonical(trace.to_dict()))) == trace
    assert schema_errors("TraceV1", trace.to_dict()) == []
