"""A report against an earlier one: what is better, worse, gone, new, and how sure that is.

Headline numbers are comparable only with the same model and the same cases. Single cases are
comparable wherever their own line is unchanged, and those are what flips are counted over. What a
known failure means for a session's outcome is the gate's business.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from fc_eval.calibration.statistics import mcnemar_exact, smallest_detectable_change
from fc_eval.records.baseline import BaselineV1
from fc_eval.records.case import AnyCase
from fc_eval.records.codec import JsonValue
from fc_eval.records.report import CaseOutcome, Comparison, ReportV1
from fc_eval.records.verdict import Verdict

_SCORED = (Verdict.PASS, Verdict.FAIL)


class Gate(StrEnum):
    """What a baseline says of a case."""

    KNOWN_FAILURE = "known_failure"
    """It failed there, and its line is unchanged."""
    KNOWN_PASS = "known_pass"
    """It passed there, and its line is unchanged."""
    UNGATED = "ungated"
    """It is new or changed, or was not measured there."""


class BaselineGate:
    """What *baseline* says of each case; whether it is of the right model is the caller's check."""

    def __init__(self, baseline: BaselineV1) -> None:
        self._outcomes = baseline.report.outcomes()

    def gate_of(self, case: AnyCase) -> Gate:
        """What the baseline says of *case*."""
        known = self._outcomes.get(case.id)
        if known is None or known.case_digest != case.digest:
            return Gate.UNGATED
        if known.verdict is Verdict.PASS:
            return Gate.KNOWN_PASS
        return Gate.KNOWN_FAILURE if known.verdict is Verdict.FAIL else Gate.UNGATED


def compare_with_baseline(
    report: ReportV1, baseline: BaselineV1, *, suite: Mapping[str, str] | None = None
) -> Comparison:
    """Compare *report* with a locked baseline; see `compare_reports`."""
    return compare_reports(report, baseline.report, suite=suite, baseline_id=baseline.baseline_id)


def compare_reports(
    report: ReportV1,
    earlier: ReportV1,
    *,
    suite: Mapping[str, str] | None = None,
    baseline_id: str | None = None,
) -> Comparison:
    """Compare two reports.

    Args:
        report: The later one. Where it covers a part of its suite, that part is compared.
        earlier: What it is held against.
        suite: The digest of every case of the present suite by id, so that a case that was not
            selected is not taken for gone; the cases of *report* where it is None.
        baseline_id: The id of the baseline that *earlier* is of, if any.
    """
    now, before = report.outcomes(), earlier.outcomes()
    suite = suite or {case_id: outcome.case_digest for case_id, outcome in now.items()}
    changed = [i for i in before if i in suite and before[i].case_digest != suite[i]]
    common = [i for i in now if i in before and before[i].case_digest == now[i].case_digest]
    shared = [i for i in common if _is_scored(now[i]) and _is_scored(before[i])]
    fixed = [i for i in shared if _passes(now[i]) and _fails(before[i])]
    broken = [i for i in shared if _passes(before[i]) and _fails(now[i])]
    reasons = _reasons(report, earlier, shared)
    return Comparison(
        baseline_id=baseline_id,
        baseline_run_id=earlier.run_id,
        comparable=not reasons,
        reasons=reasons,
        differing_hashes=report.input_hashes.differing(earlier.input_hashes),
        differing_settings=_differing(report.model, earlier.model),
        accuracy=report.summary.accuracy,
        baseline_accuracy=earlier.summary.accuracy,
        shared=len(shared),
        shared_accuracy=_share(now, shared),
        shared_baseline_accuracy=_share(before, shared),
        fixed=tuple(fixed),
        broken=tuple(broken),
        still_failing=tuple(i for i in shared if not _passes(now[i]) and not _passes(before[i])),
        new=tuple(case_id for case_id in suite if case_id not in before),
        gone=tuple(case_id for case_id in before if case_id not in suite),
        changed=tuple(changed),
        unmeasured=tuple(i for i in common if i not in set(shared) and _is_due(now[i], before[i])),
        mcnemar_p=mcnemar_exact(len(fixed), len(broken)) if shared else None,
        smallest_change=smallest_detectable_change(len(shared)),
    )


def _reasons(report: ReportV1, earlier: ReportV1, shared: list[str]) -> tuple[str, ...]:
    reasons = []
    if report.model_slug != earlier.model_slug:
        reasons.append(f"the model is {report.model_slug}, there {earlier.model_slug}")
    if report.input_hashes.cases != earlier.input_hashes.cases:
        reasons.append("the cases differ")
    if report.repeats != earlier.repeats:
        reasons.append(f"the repeats are {report.repeats}, there {earlier.repeats}")
    if not shared:
        reasons.append("no unchanged case is scored in both")
    return tuple(reasons)


def _differing(ours: Mapping[str, JsonValue], theirs: Mapping[str, JsonValue]) -> tuple[str, ...]:
    names = sorted({*ours, *theirs} - {"name", "slug"})
    return tuple(name for name in names if ours.get(name) != theirs.get(name))


def _is_scored(outcome: CaseOutcome) -> bool:
    return outcome.verdict in _SCORED


def _is_due(*outcomes: CaseOutcome) -> bool:
    return any(outcome.verdict is not Verdict.SKIP for outcome in outcomes)


def _passes(outcome: CaseOutcome) -> bool:
    return outcome.verdict is Verdict.PASS


def _fails(outcome: CaseOutcome) -> bool:
    """Whether every run fails: a case that only sometimes does is flaky, and no flip."""
    return all(result.verdict is Verdict.FAIL for result in outcome.results)


def _share(outcomes: Mapping[str, CaseOutcome], cases: list[str]) -> float | None:
    return sum(_passes(outcomes[i]) for i in cases) / len(cases) if cases else None
