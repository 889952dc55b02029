"""`ConsistencyV1`: how far full runs of one model on one suite agree.

A single run says nothing of how stable its verdicts are; three or more do. Limits and the runs are
arguments; whether the result lets a baseline be locked is asked in `fc_eval.calibration.lock`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fc_eval.errors import RefusedError
from fc_eval.records.baseline import (
    CaseConsistency,
    ConsistencyLimits,
    ConsistencyRun,
    ConsistencyV1,
)
from fc_eval.records.report import CaseOutcome, ReportV1
from fc_eval.records.verdict import Verdict

MIN_RUNS = 3


def build_consistency(
    reports: Sequence[ReportV1], *, limits: ConsistencyLimits | None = None
) -> ConsistencyV1:
    """Compare the verdicts of *reports*, case by case.

    A case counts once for each run, with its folded verdict; cases that every run skipped are
    left out.

    Args:
        reports: Three or more; the first is the canonical one.
        limits: The defaults where it is None.

    Raises:
        RefusedError: The runs can't be compared; all reasons are named.
    """
    faults = consistency_faults(reports)
    if faults:
        raise RefusedError(
            "these runs say nothing of consistency: " + "; ".join(faults),
            fix=f"name {MIN_RUNS} or more full runs of the same model and inputs",
        )
    limits = limits or ConsistencyLimits()
    cases = _compare_cases([report.outcomes() for report in reports])
    unstable = sum(not case.stable for case in cases) / len(cases) if cases else None
    spread = _spread(reports)
    return ConsistencyV1(
        model_slug=reports[0].model_slug,
        input_hashes=reports[0].input_hashes,
        runs=tuple(
            ConsistencyRun(run_id=report.run_id, accuracy=report.summary.accuracy)
            for report in reports
        ),
        cases=cases,
        unstable_share=unstable,
        spread=spread,
        limits=limits,
        passed=(
            unstable is not None
            and spread is not None
            and unstable <= limits.max_unstable
            and spread <= limits.max_spread
        ),
    )


def consistency_faults(reports: Sequence[ReportV1]) -> tuple[str, ...]:
    """Why *reports* say nothing of consistency; empty where they do."""
    faults = []
    if len(reports) < MIN_RUNS:
        faults.append(f"there are {len(reports)} runs, {MIN_RUNS} are needed")
    ids = [report.run_id for report in reports]
    faults += [f"run {i} is named twice" for i in sorted({i for i in ids if ids.count(i) > 1})]
    for report in reports:
        faults += [f"run {report.run_id} {why}" for why in _unlike(report, reports[0])]
        faults += [f"run {report.run_id} {why}" for why in full_run_faults(report)]
    return tuple(faults)


def _unlike(report: ReportV1, first: ReportV1) -> list[str]:
    faults = []
    if report.model_slug != first.model_slug:
        faults.append(f"is of model {report.model_slug}, the first of {first.model_slug}")
    hashes = report.input_hashes.differing(first.input_hashes)
    if hashes:
        faults.append(f"has other inputs than the first: {', '.join(hashes)}")
    if report.repeats != first.repeats:
        faults.append(f"has {report.repeats} repeats, the first {first.repeats}")
    return faults


def full_run_faults(report: ReportV1) -> tuple[str, ...]:
    """Why *report* does not measure the whole suite; empty where it does."""
    coverage = report.coverage
    faults = []
    if coverage.planned < report.suite_size:
        faults.append(f"selected {coverage.planned} of {report.suite_size} cases")
    if not report.complete or coverage.lost:
        faults.append(f"is partial: {coverage.lost} cases have no outcome")
    if coverage.agent_errors:
        faults.append(f"has {coverage.agent_errors} AGENT_ERROR")
    if not coverage.judged:
        faults.append("has no judged case")
    return tuple(faults)


def _compare_cases(
    outcomes: Sequence[Mapping[str, CaseOutcome]],
) -> tuple[CaseConsistency, ...]:
    compared = []
    for case_id in dict.fromkeys(case_id for run in outcomes for case_id in run):
        verdicts = tuple(run[case_id].verdict if case_id in run else None for run in outcomes)
        if any(verdict is not Verdict.SKIP for verdict in verdicts):
            stable = len(set(verdicts)) == 1
            compared.append(CaseConsistency(case_id=case_id, verdicts=verdicts, stable=stable))
    return tuple(compared)


def _spread(reports: Sequence[ReportV1]) -> float | None:
    scores = [report.summary.verdict_counts for report in reports]
    if not all(score.scored for score in scores):
        return None
    # Equal totals, the usual case, are subtracted as counts: 4/72 - 1/72 is exactly 3/72 then.
    if len({score.scored for score in scores}) == 1:
        passes = [score.PASS for score in scores]
        return (max(passes) - min(passes)) / scores[0].scored
    shares = [score.PASS / score.scored for score in scores]
    return max(shares) - min(shares)
