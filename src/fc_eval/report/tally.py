"""Outcomes and results → the summary, the coverage and the statistics of a report.

The summary, the coverage and all intervals count cases: a repeated case counts once, and passes
when all its runs pass. What single runs say stands in the repeat statistics, and what a reader
should see beside the accuracy is counted apart, by runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from itertools import chain
from typing import TypeVar

from fc_eval.calibration.statistics import pass_at_k, pass_hat_k, wilson_interval
from fc_eval.records.calls import Usage
from fc_eval.records.case import Dimension
from fc_eval.records.flags import Flag
from fc_eval.records.report import (
    TOP,
    CaseOutcome,
    CaseResult,
    Cost,
    CountedApart,
    Coverage,
    Estimate,
    FailureCount,
    RepeatStatistics,
    Score,
    Statistics,
    Summary,
    ToolCount,
    VerdictCounts,
)
from fc_eval.records.run import Fault, RawRunV1, Status, Trace
from fc_eval.records.verdict import Verdict

Number = TypeVar("Number", int, float)


def summary_of(outcomes: Sequence[CaseOutcome], tools: Container[str]) -> Summary:
    """The headline: verdicts, accuracy, dimensions, codes and tools.

    Args:
        outcomes: One for each case that has a result.
        tools: The names of the registered tools; only these can be worst tools.
    """
    failed = [outcome for outcome in outcomes if outcome.verdict is Verdict.FAIL]
    codes = Counter(outcome.taxonomy for outcome in failed if outcome.taxonomy is not None)
    worst = Counter(chain.from_iterable(_tools_involved(outcome, tools) for outcome in failed))
    score = Score.of(_verdicts(outcomes))
    return Summary(
        verdict_counts=score.verdict_counts,
        scored_count=score.scored_count,
        accuracy=score.accuracy,
        dimensions={each.value: Score.of(_verdicts(outcomes, each)) for each in Dimension},
        taxonomy_counts=dict(_ranked(codes)),
        top_failures=tuple(FailureCount(taxonomy=c, count=n) for c, n in _ranked(codes)[:TOP]),
        worst_tools=dict(_ranked(worst)),
        top_worst_tools=tuple(ToolCount(tool=t, count=n) for t, n in _ranked(worst)[:TOP]),
    )


def coverage_of(planned: Sequence[str], outcomes: Sequence[CaseOutcome]) -> Coverage:
    """What became of the *planned* cases."""
    counts = VerdictCounts.of(_verdicts(outcomes))
    return Coverage(
        planned=len(planned),
        judged=counts.scored,
        skipped=counts.SKIP,
        agent_errors=counts.AGENT_ERROR,
        lost=len(planned) - counts.scored - counts.SKIP - counts.AGENT_ERROR,
    )


def statistics_of(
    run: RawRunV1, outcomes: Sequence[CaseOutcome], results: Sequence[CaseResult]
) -> Statistics:
    """How sure the headline is, and what it took."""
    return Statistics(
        accuracy=_estimate(_verdicts(outcomes)),
        dimensions={each.value: _estimate(_verdicts(outcomes, each)) for each in Dimension},
        repeats=_repeats(run.repeats, outcomes) if run.repeats > 1 else None,
        cost=_cost([trace for trace in run.cases if trace.status is not Status.SKIPPED]),
        counted_apart=_counted_apart(run, results),
    )


def _verdicts(outcomes: Iterable[CaseOutcome], dimension: Dimension | None = None) -> list[Verdict]:
    return [
        outcome.verdict
        for outcome in outcomes
        if outcome.verdict is not None and dimension in (None, outcome.dimension)
    ]


def _tools_involved(outcome: CaseOutcome, tools: Container[str]) -> set[str]:
    failed = [result for result in outcome.results if result.verdict is Verdict.FAIL]
    golden = {call["tool"] for result in failed for call in result.golden["calls"]}
    called = {call["tool"] for result in failed for call in result.actual}
    return {tool for tool in golden | called if tool in tools}


def _ranked(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _estimate(verdicts: Iterable[Verdict]) -> Estimate:
    counts = VerdictCounts.of(verdicts)
    low, high = wilson_interval(counts.PASS, counts.scored) or (None, None)
    return Estimate(
        passed=counts.PASS, scored=counts.scored, value=counts.accuracy, low=low, high=high
    )


def _repeats(repeats: int, outcomes: Sequence[CaseOutcome]) -> RepeatStatistics:
    by_case = {
        outcome.case_id: VerdictCounts.of(result.verdict for result in outcome.results)
        for outcome in outcomes
    }
    runs = [(counts.scored, counts.PASS) for counts in by_case.values()]
    return RepeatStatistics(
        repeats=repeats,
        runs=Score.of(result.verdict for outcome in outcomes for result in outcome.results),
        pass_at_k={str(k): pass_at_k(runs, k) for k in range(1, repeats + 1)},
        pass_hat_k={str(k): pass_hat_k(runs, k) for k in range(1, repeats + 1)},
        stable_pass=sum(counts.PASS > 0 and not counts.FAIL for counts in by_case.values()),
        stable_fail=sum(counts.FAIL > 0 and not counts.PASS for counts in by_case.values()),
        flaky=tuple(case for case, counts in by_case.items() if counts.PASS and counts.FAIL),
    )


def _cost(traces: Sequence[Trace]) -> Cost:
    usages = [trace.usage or Usage() for trace in traces]
    prompt = [usage.prompt_tokens for usage in usages]
    completion = [usage.completion_tokens for usage in usages]
    total = [usage.total_tokens for usage in usages]
    requests = [_requests(trace) for trace in traces]
    seconds = [None if t.elapsed_ms is None else t.elapsed_ms / 1000 for t in traces]
    return Cost(
        prompt_tokens=_sum(prompt),
        completion_tokens=_sum(completion),
        total_tokens=_sum(total),
        requests=_sum(requests),
        seconds=_sum(seconds),
        partial=(
            any(usage.partial for usage in usages)
            or any(map(_has_gap, (prompt, completion, total, requests)))
            or _has_gap(seconds)
        ),
    )


def _requests(trace: Trace) -> int | None:
    # An agent of the user's own makes requests that nobody here sees.
    return trace.steps + len(trace.attempts) or None


def _sum(values: Sequence[Number | None]) -> Number | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _has_gap(values: Sequence[float | None]) -> bool:
    missing = sum(value is None for value in values)
    return 0 < missing < len(values)


def _counted_apart(run: RawRunV1, results: Sequence[CaseResult]) -> CountedApart:
    fails = [result for result in results if result.verdict is Verdict.FAIL]
    errors = [result for result in results if result.verdict is Verdict.AGENT_ERROR]
    blamed = (*fails, *errors)
    return CountedApart(
        repeated_requests=sum(len(trace.attempts) for trace in run.cases),
        finish_length_fails=sum(Flag.FINISH_LENGTH in result.flags for result in fails),
        unclear_fault_fails=sum(result.fault is Fault.UNCLEAR for result in fails),
        text_encoded_abstentions=sum(_is_text_encoded_abstention(result) for result in results),
        faults=dict(_ranked(Counter(r.fault.value for r in blamed if r.fault is not None))),
        agent_error_codes=dict(_ranked(Counter(r.error.code for r in errors if r.error))),
    )


def _is_text_encoded_abstention(result: CaseResult) -> bool:
    passed = result.verdict is Verdict.PASS
    return passed and not result.actual and Flag.TEXT_ENCODED_CALL in result.flags
