"""More odd answers over real HTTP, a class of them at a time, each held to all that it promises.

The lines of `odd/more.jsonl` go through the tables of the policy row by row: arguments, shapes of
messages, dialects of calls in text, names, Unicode, usage, the errors of real providers, content
codings, cut bodies, redirects and every form of a hint how long to wait. What a line does not name
is left open.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from fc_eval.judge.verdict import judge_case
from fc_eval.records.calls import Call
from fc_eval.records.codec import schema_errors
from fc_eval.records.run import Trace
from fc_eval.records.verdict import Judgement, Verdict
from fc_eval.report.faults import fault_of, golden_flags
from tests.client.odd_server import load_lines
from tests.client.support import Played, odd_domain, play

LINES = load_lines("more.jsonl")


@pytest.fixture(scope="session")
def all_played() -> dict[str, Played]:
    return asyncio.run(play(LINES))


@pytest.mark.parametrize("key", LINES)
def test_what_comes_of_it(key: str, all_played: dict[str, Played]) -> None:
    assert list(_broken_promises(all_played[key])) == []


def _broken_promises(played: Played) -> Iterator[str]:
    expected, trace = played.line["expected"], played.trace
    judgement = judge_case(played.case, trace, odd_domain())
    codes = (trace.error.code,) if trace.error else judgement.taxonomies
    if not any(_is_so(judgement, codes, wanted) for wanted in _accepted(expected)):
        yield f"{judgement.verdict} {codes}"
    fewest, most = expected["requests"]
    if not fewest <= len(played.script.requests) <= most:
        yield f"{len(played.script.requests)} requests"
    yield from (request.guard for request in played.script.requests if request.guard)
    yield from _wrong_records(played, expected)
    fault = fault_of(played.case, trace, judgement)
    if fault != expected.get("fault", fault) and "also_ok" not in expected:
        yield f"fault {fault}"
    if judgement.verdict is Verdict.PASS and fault is not None:
        yield "a fault beside a PASS"


def _accepted(expected: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [expected, *({**expected, **other} for other in expected.get("also_ok", ()))]


def _is_so(judgement: Judgement, codes: tuple[str, ...], wanted: Mapping[str, Any]) -> bool:
    code = wanted["code"]
    return judgement.verdict == wanted["verdict"] and (code is None or code in codes)


def _wrong_records(played: Played, expected: Mapping[str, Any]) -> Iterator[str]:
    trace = played.trace
    flags = {*trace.flags, *(flag for call in trace.calls for flag in call.flags)}
    flags |= set(golden_flags(played.case, trace))
    missing = set(expected.get("flags", ())) - flags
    if missing:
        yield f"no flag {missing}"
    unwanted = set(expected.get("no_flags", ())) & flags
    if unwanted:
        yield f"flag {unwanted}"
    if not _are_calls(trace.calls, expected.get("calls")):
        yield f"calls {trace.calls}"
    waited = sum(attempt.wait_s or 0 for attempt in trace.attempts)
    on_the_way = 0.3
    least, most = expected.get("min_wait_s", 0), expected.get("max_wait_s", 100)
    if not least - on_the_way <= waited <= most:
        yield f"waited {waited} s"
    if expected.get("final_text", trace.final_text) != trace.final_text:
        yield f"final text {trace.final_text!r}"
    if schema_errors("TraceV1", trace.to_dict()):
        yield "no valid trace"
    if not played.line["key"].startswith("redir-") and _told(trace) != len(played.script.requests):
        yield f"the trace tells of {_told(trace)} requests"


def _told(trace: Trace) -> int:
    """How many requests a trace tells of: answers, and tries that failed."""
    return len(trace.attempts) + sum(exchange.body is not None for exchange in trace.exchanges)


def _are_calls(calls: tuple[Call, ...], expected: Any) -> bool:
    if expected is None:
        return True
    if isinstance(expected, str):
        return {call.tool for call in calls} == {expected.partition(":")[2]}
    shown = [
        {"name": call.tool, "args_error": bool(call.parse_error)}
        if call.arguments is None
        else {"name": call.tool, "args": call.arguments}
        for call in calls
    ]
    return bool(shown == expected)
