"""`ReportV1` → the lines of the terminal summary.

Figures only: what failed and why is shown by `fc_eval.report.failures`, and what a gate makes of it
by the gate. Everything that a model, a server or a case file wrote is made printable first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from fc_eval.records.case import Dimension
from fc_eval.records.codec import JsonValue
from fc_eval.records.report import (
    Comparison,
    Cost,
    CountedApart,
    Coverage,
    Estimate,
    RepeatStatistics,
    ReportV1,
    Score,
    Summary,
)
from fc_eval.records.text import columns, printable
from fc_eval.report.benchmark_lines import benchmark_notes, benchmark_rows

MEASURES = {
    Dimension.D1: "tool selection",
    Dimension.D2: "parameter fill",
    Dimension.D3: "invocation",
    Dimension.D4: "chain",
}
FEW_CASES = 8
NAME = 80


def report_lines(report: ReportV1) -> Iterator[str]:
    """The figures of *report*, in the order in which a reader wants them."""
    yield headline(report.statistics.accuracy)
    yield coverage_line(report.coverage)
    yield from _dimensions(report.summary.dimensions, report.statistics.dimensions)
    if report.metrics is not None:
        yield from _table(list(benchmark_rows(report.metrics)))
        yield from benchmark_notes(report.metrics)
    yield from _worst(report.summary)
    if report.statistics.repeats is not None:
        yield from _repeats(report.statistics.repeats)
    yield from _counted_apart(report.statistics.counted_apart)
    yield from _cost(report.statistics.cost)
    if report.review is not None:
        yield _review(report.review)
    if report.baseline_comparison is not None:
        yield from comparison_lines(report.baseline_comparison)


def headline(accuracy: Estimate) -> str:
    """The first line, such as `57 of 72 cases pass (79.2 %, 95 % interval 68.4-86.9)`."""
    if accuracy.value is None:
        return "no case was judged"
    share = f"{_percent(accuracy.value)}, 95 % interval {_interval(accuracy)}"
    what = "case passes" if accuracy.scored == 1 else "cases pass"
    return f"{accuracy.passed} of {accuracy.scored} {what} ({share})"


def coverage_line(coverage: Coverage) -> str:
    """What became of the planned cases."""
    return (
        f"coverage: {coverage.planned} planned, {coverage.judged} judged, "
        f"{coverage.skipped} skipped, {coverage.agent_errors} agent errors, {coverage.lost} lost"
    )


def _dimensions(scores: Mapping[str, Score], estimates: Mapping[str, Estimate]) -> Iterator[str]:
    rows: list[tuple[str, ...]] = []
    for dimension in Dimension:
        counts = scores[dimension].verdict_counts
        if any((counts.PASS, counts.FAIL, counts.SKIP, counts.AGENT_ERROR)):
            verdicts = (counts.PASS, counts.FAIL, counts.SKIP, counts.AGENT_ERROR)
            estimate = estimates[dimension]
            rows.append(
                (
                    f"{dimension} {MEASURES[dimension]}",
                    *map(str, verdicts),
                    _percent(estimate.value),
                    _interval(estimate),
                )
            )
    if rows:
        head = ("dimension", "pass", "fail", "skip", "error", "accuracy", "95 % interval")
        yield from _table([head, *rows])


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(columns, column)) for column in zip(*rows, strict=True)]
    for first, *rest in rows:
        cells = [first.ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        yield "  ".join(cells)


def _worst(summary: Summary) -> Iterator[str]:
    if summary.taxonomy_counts:
        codes = sorted(summary.taxonomy_counts.items(), key=lambda item: (-item[1], item[0]))
        yield f"failures by primary code: {_counts(codes)}"
    if summary.top_worst_tools:
        tools = [(place.tool, place.count) for place in summary.top_worst_tools]
        yield f"tools in most failed cases: {_counts(tools)}"


def _repeats(repeats: RepeatStatistics) -> Iterator[str]:
    counts = repeats.runs.verdict_counts
    yield (
        f"{repeats.repeats} runs a case: {counts.PASS} of {counts.scored} runs pass "
        f"({_percent(repeats.runs.accuracy)}), {counts.AGENT_ERROR} agent errors; "
        "a case passes when all its runs pass"
    )
    yield f"at least one of k passes (pass@k): {_by_k(repeats.pass_at_k)}"
    yield f"all of k pass (pass^k): {_by_k(repeats.pass_hat_k)}"
    flaky = f": {_names(repeats.flaky)}" if repeats.flaky else ""
    yield (
        f"cases by their runs: {repeats.stable_pass} stable pass, "
        f"{repeats.stable_fail} stable fail, {len(repeats.flaky)} flaky{flaky}"
    )


def _by_k(shares: Mapping[str, float | None]) -> str:
    return ", ".join(f"k={k} {_percent(shares[k])}" for k in sorted(shares, key=int))


def _counted_apart(apart: CountedApart) -> Iterator[str]:
    notes = (
        (apart.repeated_requests, "requests failed and were tried again or given up"),
        (apart.finish_length_fails, "FAIL cut off by the token limit"),
        (apart.unclear_fault_fails, "FAIL where model and server can't be told apart"),
        (apart.text_encoded_abstentions, "PASS without a call although text looks like one"),
    )
    told = [f"{count} {what}" for count, what in notes if count]
    if told:
        yield f"counted apart: {'; '.join(told)}"
    if apart.agent_error_codes:
        yield f"agent errors by code: {_counts(apart.agent_error_codes.items())}"


def _cost(cost: Cost) -> Iterator[str]:
    parts = []
    if cost.requests is not None:
        parts.append(f"{cost.requests:,} requests")
    if cost.total_tokens is not None:
        parts.append(f"{cost.total_tokens:,} tokens")
    if cost.seconds is not None:
        parts.append(f"{cost.seconds:,.1f} s of agent time")
    if parts:
        yield f"took {', '.join(parts)}{', at least: some runs did not say' * cost.partial}"


def _review(review: Mapping[str, JsonValue]) -> str:
    rate = review["misjudgment_rate"]
    return (
        f"reviewed: {review['model_fault']} model faults, {review['judge_misjudgment']} "
        f"misjudgments ({_percent(rate)}), {review['golden_error']} golden errors, "
        f"{review['undecided']} undecided, {review['stale']} stale"
    )


def comparison_lines(comparison: Comparison) -> Iterator[str]:
    """A comparison with a baseline or another run."""
    against = f"baseline {comparison.baseline_id}" if comparison.baseline_id else "run"
    against = f"{against} (run {printable(comparison.baseline_run_id, NAME)})"
    accuracies = (
        f"{_percent(comparison.accuracy)} now, {_percent(comparison.baseline_accuracy)} there"
    )
    if comparison.comparable:
        yield f"against {against}: {accuracies}"
    else:
        why = "; ".join(printable(reason, 2 * NAME) for reason in comparison.reasons)
        yield f"against {against}: headlines are not comparable ({why}): {accuracies}"
    differing = (*comparison.differing_hashes, *comparison.differing_settings)
    if differing:
        yield f"  what differs: {', '.join(printable(name, NAME) for name in differing)}"
    yield (
        f"  on the {comparison.shared} unchanged cases scored in both: "
        f"{_percent(comparison.shared_accuracy)} now, "
        f"{_percent(comparison.shared_baseline_accuracy)} there"
    )
    for name, cases in _flips(comparison):
        if cases:
            yield f"  {name}: {len(cases)}: {_names(cases)}"
    yield f"  {_significance(comparison)}"


def _flips(comparison: Comparison) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield "fixed", comparison.fixed
    yield "broken", comparison.broken
    yield "still failing", comparison.still_failing
    yield "new", comparison.new
    yield "gone", comparison.gone
    yield "changed", comparison.changed
    yield "not scored in both", comparison.unmeasured


def _significance(comparison: Comparison) -> str:
    if comparison.mcnemar_p is None:
        return "nothing can be said of a change"
    chance = f"McNemar's exact p of the flips is {comparison.mcnemar_p:.3f}"
    if comparison.smallest_change is None:
        return f"{chance}; so few cases can show no change at 5 %"
    points = f"{100 * comparison.smallest_change:.1f} points"
    return f"{chance}; the smallest change that {comparison.shared} cases can show is {points}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def _interval(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return "-"
    return f"{100 * estimate.low:.1f}-{100 * estimate.high:.1f}"


def _counts(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{printable(name, NAME)} {count}" for name, count in counts)


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(printable(name, NAME) for name in names[:FEW_CASES])
    more = len(names) - FEW_CASES
    return f"{shown} and {more} more" if more > 0 else shown
