"""`ReportV1` → `BaselineV1`, or the reasons why not; and whether a stored one is still what it was.

A lock rests on a full run, a decision for every FAIL and runs that agree. Where the files go is
asked in `fc_eval.files`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fc_eval.calibration.consistency import full_run_faults
from fc_eval.calibration.review import complete_review, count_review
from fc_eval.errors import RefusedError
from fc_eval.records.baseline import BaselineV1, ConsistencyV1, Decision, ReviewV1
from fc_eval.records.case import AnyCase
from fc_eval.records.layout import render_artifact
from fc_eval.records.report import CaseResult, ReportV1
from fc_eval.records.run import InputHashes, RawRunV1
from fc_eval.records.verdict import Verdict

JUDGED_BY = ("tools", "database", "judge_rules")
"""The inputs, beside its case's line, that a verdict on a given trace depends on."""


def lock_faults(
    run: RawRunV1,
    report: ReportV1,
    review: ReviewV1 | None,
    consistency: ConsistencyV1 | None,
    *,
    cases: Sequence[AnyCase],
    present: InputHashes,
) -> tuple[str, ...]:
    """Why *report* can't become a baseline, one reason a line; empty where it can.

    Args:
        run: The canonical run.
        report: That run, judged.
        review: The decisions on its FAILs.
        consistency: What its run and others say of stability; None where there were no others.
        cases: All cases of the suite.
        present: The hashes of the inputs as they are now.
    """
    return (
        *_run_faults(run, report, cases, present),
        *_review_faults(complete_review(report, review)),
        *_consistency_faults(report, consistency),
    )


def _run_faults(
    run: RawRunV1, report: ReportV1, cases: Sequence[AnyCase], present: InputHashes
) -> list[str]:
    faults = [f"the run {why}" for why in full_run_faults(report)]
    unasked = {case.id for case in cases if not case.skip} & {
        outcome.case_id for outcome in report.outcomes().values() if outcome.verdict is Verdict.SKIP
    }
    if unasked:
        faults.append(f"the run skipped {_listed(sorted(unasked))}, which the suite does not skip")
    # Traces may be judged again by newer rules; anything else they were made with must be the same.
    made_with = replace(run.input_hashes, judge_rules=present.judge_rules)
    hashes = dict.fromkeys((*made_with.differing(present), *report.input_hashes.differing(present)))
    if hashes:
        faults.append(
            f"the run was made with other inputs than there are now: {_listed([*hashes])}"
        )
    return faults


def _review_faults(review: ReviewV1) -> list[str]:
    live = [entry for entry in review.entries if not entry.stale]
    problems = {
        None: "no decision in the review for a FAIL of",
        Decision.JUDGE_MISJUDGMENT: "the review says that the judge is wrong about",
        Decision.GOLDEN_ERROR: "the review says that the golden is wrong in",
    }
    faults = []
    for decision, problem in problems.items():
        found = [entry.case_id for entry in live if entry.decision is decision]
        if found:
            faults.append(f"{problem} {_listed(list(dict.fromkeys(found)))}")
    silent = [e.case_id for e in live if e.decision is not None and not e.note.strip()]
    if silent:
        faults.append(f"the decision has no note for {_listed(list(dict.fromkeys(silent)))}")
    return faults


def _consistency_faults(report: ReportV1, consistency: ConsistencyV1 | None) -> list[str]:
    if consistency is None:
        return ["there is no consistency record: three full runs or more are needed"]
    faults = []
    if not consistency.runs or consistency.runs[0].run_id != report.run_id:
        faults.append("the consistency record is of other runs")
    if not consistency.passed:
        limits = consistency.limits
        faults.append(
            f"consistency fails: {_percent(consistency.unstable_share)} of the cases are unstable "
            f"(limit {_percent(limits.max_unstable)}), the accuracy spreads over "
            f"{_percent(consistency.spread)} (limit {_percent(limits.max_spread)})"
        )
    return faults


def build_baseline(
    run: RawRunV1,
    report: ReportV1,
    review: ReviewV1 | None,
    consistency: ConsistencyV1 | None,
    *,
    cases: Sequence[AnyCase],
    present: InputHashes,
    locked_at: str,
) -> BaselineV1:
    """Lock *report*, the judged *run*.

    Raises:
        RefusedError: A condition is not met; every reason is named.
        ValueError: *report* is of another run.
    """
    if report.run_id != run.run_id:
        raise ValueError(f"the report is of run {report.run_id}, not of {run.run_id}")
    faults = lock_faults(run, report, review, consistency, cases=cases, present=present)
    if faults or consistency is None:
        raise RefusedError(
            "the baseline is not locked:" + "".join(f"\n  - {fault}" for fault in faults),
            fix="do what is missing, then run --fc-lock-baseline again",
        )
    baseline = BaselineV1(
        baseline_id="",
        locked_at=locked_at,
        model_slug=report.model_slug,
        request_configuration={k: v for k, v in report.model.items() if k not in ("name", "slug")},
        input_hashes=report.input_hashes,
        raw_run_sha256=raw_run_sha256(run),
        report=replace(report, baseline_comparison=None),
        review=_without_stale(
            complete_review(
                report, review, instructions={case.id: case.instruction for case in cases}
            )
        ),
        consistency=consistency,
    )
    return replace(baseline, baseline_id=baseline.content_id)


def raw_run_sha256(run: RawRunV1) -> str:
    """SHA-256 of the text that *run* is stored as."""
    return hashlib.sha256(render_artifact(run.to_dict()).encode("utf-8")).hexdigest()


def _without_stale(review: ReviewV1) -> ReviewV1:
    return ReviewV1(entries=tuple(entry for entry in review.entries if not entry.stale))


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineCheck:
    """What became of a stored baseline.

    `faults` say that it is not what was locked. `outdated` names the inputs that have changed
    since: no fault, but its headline may no longer be comparable.
    """

    faults: tuple[str, ...]
    outdated: tuple[str, ...]


def check_baseline(
    baseline: BaselineV1,
    *,
    stored_sha256: str,
    judged_again: ReportV1 | None,
    present: InputHashes,
) -> BaselineCheck:
    """Say whether a stored baseline is what was locked, and what has changed since.

    Args:
        baseline: As read.
        stored_sha256: The digest of the raw run that is stored beside it.
        judged_again: That raw run, judged by the present rules; None where it can't be, since its
            cases are no longer there. It counts where the inputs of judging are unchanged, for
            the cases whose lines are.
        present: The hashes of the inputs as they are now.
    """
    outdated = baseline.input_hashes.differing(present)
    faults = []
    if baseline.baseline_id != baseline.content_id:
        faults.append("its content was edited after it was locked: the id does not fit")
    if baseline.raw_run_sha256 != stored_sha256:
        faults.append("the raw run beside it is another one: the digest does not fit")
    if baseline.model_slug != baseline.report.model_slug:
        faults.append("its report is of another model")
    if baseline.input_hashes != baseline.report.input_hashes:
        faults.append("its report has other input hashes")
    undecided = count_review(baseline.review).undecided
    if undecided:
        faults.append(f"its review has {undecided} FAIL without a decision")
    if judged_again is not None and not set(outdated) & set(JUDGED_BY):
        faults += _verdict_faults(baseline.report, judged_again)
    return BaselineCheck(faults=tuple(faults), outdated=outdated)


def _verdict_faults(stored: ReportV1, again: ReportV1) -> list[str]:
    lines = {result.case_id: result.case_digest for result in again.results}
    ours, theirs = (
        {
            (result.case_id, result.repeat): _judged(result)
            for result in report.results
            # A case whose line has changed since asks for something else.
            if lines.get(result.case_id, result.case_digest) == result.case_digest
        }
        for report in (stored, again)
    )
    differing = [key[0] for key in {**ours, **theirs} if ours.get(key) != theirs.get(key)]
    if not differing:
        return []
    shown = _listed(list(dict.fromkeys(differing)))
    return [f"its raw run, judged again, has other verdicts, codes or diffs for {shown}"]


def _judged(result: CaseResult) -> tuple[object, ...]:
    return result.verdict, result.taxonomies, result.diff


def _listed(names: Sequence[str], most: int = 10) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _percent(share: float | None) -> str:
    return "an unknown share" if share is None else f"{100 * share:.1f} %"
