"""Consistency, and the cost of two runs, as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from fc_eval.records.baseline import ConsistencyV1
from fc_eval.records.report import ReportV1

NOT_MEASURED = "-"


def consistency_lines(consistency: ConsistencyV1) -> Iterator[str]:
    """How far runs agree: the figures, their limits, and every case that is not stable."""
    limits = consistency.limits
    yield f"{len(consistency.runs)} runs of {consistency.model_slug}"
    for run in consistency.runs:
        yield f"  run {run.run_id}: accuracy {_percent(run.accuracy)}"
    for case in consistency.cases:
        if not case.stable:
            verdicts = " ".join(verdict or NOT_MEASURED for verdict in case.verdicts)
            yield f"  unstable {case.case_id}: {verdicts}"
    yield (
        f"unstable cases: {_percent(consistency.unstable_share)} "
        f"(limit {_percent(limits.max_unstable)}); accuracy spreads over "
        f"{_percent(consistency.spread)} (limit {_percent(limits.max_spread)})"
    )


def cost_lines(before: ReportV1, after: ReportV1) -> Iterator[str]:
    """What two runs took, side by side."""
    old, new = before.statistics.cost, after.statistics.cost
    yield f"  requests: {_shown(old.requests)} -> {_shown(new.requests)}"
    yield f"  tokens: {_shown(old.total_tokens)} -> {_shown(new.total_tokens)}"
    yield f"  seconds: {_shown(old.seconds)} -> {_shown(new.seconds)}"


def _shown(value: float | None) -> str:
    return NOT_MEASURED if value is None else f"{round(value, 1):,}"


def _percent(share: float | None) -> str:
    return NOT_MEASURED if share is None else f"{100 * share:.1f} %"
