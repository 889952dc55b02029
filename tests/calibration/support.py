"""Reports, reviews and baselines from one line of verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fc_eval.calibration.consistency import build_consistency
from fc_eval.calibration.lock import build_baseline
from fc_eval.calibration.review import complete_review
from fc_eval.records.baseline import BaselineV1, ConsistencyV1, Decision, ReviewV1
from fc_eval.records.case import Case
from fc_eval.records.report import ReportV1
from fc_eval.records.run import RawRunV1, Trace
from fc_eval.report.build import build_report
from tests.report.support import DOMAIN, broken, failing, make_case, make_run, passing, skipped

MADE = {"P": passing, "F": failing, "E": broken, "S": skipped}
LOCKED_AT = "2026-02-01T00:00:00Z"


def make_cases(count: int, *, changed: Sequence[int] = ()) -> list[Case]:
    """Cases `case-0` and on; those whose numbers are named have another instruction."""
    cases = [make_case(f"case-{number}") for number in range(count)]
    for number in changed:
        cases[number] = replace(cases[number], instruction="Something else.")
    return cases


def make_traces(verdicts: str, cases: Sequence[Case]) -> list[Trace]:
    """A trace for each letter: P passes, F fails, E is an agent error, S skipped, - is lost."""
    return [
        MADE[letter](case.id) for letter, case in zip(verdicts, cases, strict=True) if letter != "-"
    ]


def judged(
    verdicts: str, *, cases: list[Case] | None = None, **fields: Any
) -> tuple[RawRunV1, ReportV1]:
    """A run with these verdicts, and its report."""
    cases = make_cases(len(verdicts)) if cases is None else cases
    fields.setdefault("complete", "-" not in verdicts)
    run = make_run(cases, make_traces(verdicts, cases), **fields)
    return run, build_report(run, cases, DOMAIN)


def report_of(verdicts: str, **fields: Any) -> ReportV1:
    """The report of a run with these verdicts."""
    return judged(verdicts, **fields)[1]


def decided(report: ReportV1, decision: Decision = Decision.MODEL_FAULT) -> ReviewV1:
    """The same decision, with a note, on every FAIL."""
    entries = complete_review(report).entries
    return ReviewV1(
        entries=tuple(replace(entry, decision=decision, note="seen") for entry in entries)
    )


def steady(report: ReportV1) -> ConsistencyV1:
    """Three runs that agree, *report* the first."""
    return build_consistency(
        [replace(report, run_id=name) for name in (report.run_id, "again", "once-more")]
    )


def locked(verdicts: str = "PPF") -> tuple[RawRunV1, BaselineV1]:
    """A baseline, and the run that it is of."""
    cases = make_cases(len(verdicts))
    run, report = judged(verdicts)
    baseline = build_baseline(
        run,
        report,
        decided(report),
        steady(report),
        cases=cases,
        present=report.input_hashes,
        locked_at=LOCKED_AT,
    )
    return run, baseline
