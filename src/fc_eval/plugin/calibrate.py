"""Reviews, consistency, locks: what a session or an offline command does with judged runs.

The rules stand in `fc_eval.calibration`; this module fetches what they need and stores what they
give.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from fc_eval.calibration.consistency import build_consistency, consistency_faults
from fc_eval.calibration.lock import BaselineCheck, build_baseline, check_baseline
from fc_eval.calibration.review import complete_review, count_review
from fc_eval.errors import ArtifactError, ConfigError, FcEvalError, RefusedError
from fc_eval.files import (
    BaselineFiles,
    file_sha256,
    read_baseline,
    read_raw_run,
    read_review,
    save_baseline,
    write_review,
)
from fc_eval.records.baseline import (
    BaselineV1,
    ConsistencyLimits,
    ConsistencyV1,
    Decision,
    ReviewCounts,
    ReviewV1,
)
from fc_eval.records.report import ReportV1
from fc_eval.records.run import RawRunV1, Status

if TYPE_CHECKING:
    from fc_eval.plugin.options import Settings
    from fc_eval.plugin.session import Evaluation


def split_repeats(run: RawRunV1) -> list[RawRunV1]:
    """A run whose cases ran N times, as N runs; the same run where N is 1."""
    if run.repeats == 1:
        return [run]
    return [_repeat(run, number) for number in range(1, run.repeats + 1)]


def _repeat(run: RawRunV1, number: int) -> RawRunV1:
    # A skipped case leaves one trace, whatever the repeats.
    cases = tuple(
        replace(trace, repeat=1)
        for trace in run.cases
        if trace.repeat == number or trace.status is Status.SKIPPED
    )
    whole = {trace.case_id for trace in cases} == set(run.selection.case_ids)
    return replace(run, run_id=f"{run.run_id}-{number}", repeats=1, complete=whole, cases=cases)


def read_limits(settings: Settings) -> ConsistencyLimits:
    """`max_unstable` and `max_spread` of `[tool.fc_eval]`.

    Raises:
        ConfigError: One of them is no number from 0 to 1.
    """
    given = {}
    for name in ("max_unstable", "max_spread"):
        value = settings.table.get(name, getattr(ConsistencyLimits(), name))
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise ConfigError(
                f"[tool.fc_eval] {name} is {value!r}",
                path=settings.table_name,
                fix="write a number from 0 to 1",
            )
        given[name] = float(value)
    return ConsistencyLimits(**given)


def load_review(files: BaselineFiles) -> ReviewV1 | None:
    """The stored review, None where there is none.

    Raises:
        ArtifactError: It can't be read.
    """
    if not files.review.exists():
        return None
    try:
        return read_review(files.review)
    except ArtifactError as error:
        choices = ", ".join(decision.value for decision in Decision)
        raise ArtifactError(
            error.problem, path=error.path, fix=f"a decision is null or one of: {choices}"
        ) from None


def update_review(evaluation: Evaluation, report: ReportV1) -> tuple[Path, ReviewCounts]:
    """Write or complete the review of *report*'s FAILs; decisions that are there stay.

    Raises:
        ArtifactError: The review can't be read or written.
    """
    files = evaluation.baseline_files
    review = complete_review(report, load_review(files), instructions=evaluation.instructions)
    write_review(files.review, review, redact=evaluation.redactor.value)
    return files.review, count_review(review)


def consistency_of(evaluation: Evaluation, runs: Iterable[RawRunV1]) -> ConsistencyV1:
    """Compare the verdicts of *runs*, judged by the present rules.

    Raises:
        RefusedError: They are too few, partial, or not of one kind.
    """
    reports = [evaluation.judge(part) for run in runs for part in split_repeats(run)]
    return build_consistency(reports, limits=read_limits(evaluation.settings))


@dataclass(frozen=True, kw_only=True)
class Lock:
    """A baseline that was just locked, and the archive of the one before it."""

    baseline: BaselineV1
    path: Path
    archive: Path | None


def lock(evaluation: Evaluation, runs: Sequence[RawRunV1]) -> Lock:
    """Lock the first of *runs*, if the others bear it out and every FAIL is reviewed.

    Raises:
        RefusedError: Something is missing; each thing is named, and the review's template written.
        ArtifactError: Something can't be read or written.
    """
    parts = [part for run in runs for part in split_repeats(run)]
    reports = [evaluation.judge(part) for part in parts]
    files = evaluation.baseline_files
    review = load_review(files)
    consistent = not consistency_faults(reports)
    limits = read_limits(evaluation.settings)
    try:
        baseline = build_baseline(
            parts[0],
            reports[0],
            review,
            build_consistency(reports, limits=limits) if consistent else None,
            cases=evaluation.suite.cases,
            present=evaluation.present_hashes(parts[0]),
            locked_at=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        )
    except RefusedError as error:
        update_review(evaluation, reports[0])
        more = "".join(f"\n  - {fault}" for fault in consistency_faults(reports))
        raise RefusedError(
            error.problem + more,
            fix=f"decide what is open in {evaluation.near(files.review)} (a template was written "
            "or completed), see to the rest, then lock again",
        ) from None
    whole = complete_review(reports[0], review, instructions=evaluation.instructions)
    archive = save_baseline(files, baseline, parts[0], whole)
    return Lock(baseline=baseline, path=files.baseline, archive=archive)


def read_runs(paths: Sequence[Path]) -> list[RawRunV1]:
    """The stored runs at *paths*, each a raw run or the folder of one.

    Raises:
        ArtifactError: One of them can't be read.
    """
    return [read_raw_run(path) for path in paths]


def check_stored_baseline(evaluation: Evaluation, path: Path) -> tuple[BaselineV1, BaselineCheck]:
    """Check a stored baseline against itself, its raw run, and the present inputs.

    Raises:
        ArtifactError: A file can't be read.
    """
    files = BaselineFiles.beside(path)
    baseline = read_baseline(path)
    run = read_raw_run(files.raw_run)
    again: ReportV1 | None
    try:
        again = evaluation.judge(run)
    except ArtifactError:
        # A case of the baseline is gone; what can be judged again is then the older suite's.
        again = None
    check = check_baseline(
        baseline,
        stored_sha256=file_sha256(files.raw_run),
        judged_again=again,
        present=evaluation.present_hashes(run),
    )
    return baseline, check


def integrity_fault(path: Path, check: BaselineCheck) -> FcEvalError | None:
    """What `check_stored_baseline` found, as one error that names the file."""
    if not check.faults:
        return None
    return ArtifactError(
        "this baseline is not what was locked:" + "".join(f"\n  - {f}" for f in check.faults),
        path=path,
        fix="restore baseline and raw run from version control, or lock anew",
    )


def lock_lines(evaluation: Evaluation, lock: Lock) -> list[str]:
    """What was locked, and where the old one is kept."""
    lines = []
    if lock.archive is not None:
        lines.append(f"archived={evaluation.near(lock.archive)}")
    return [*lines, f"baseline={evaluation.near(lock.path)} {lock.baseline.baseline_id}"]


def review_lines(evaluation: Evaluation, report: ReportV1) -> list[str]:
    """Write the review of *report*, and say what is left to decide.

    Raises:
        ArtifactError: The review can't be read or written.
    """
    path, counts = update_review(evaluation, report)
    return [
        f"review: {counts.model_fault} model faults, {counts.judge_misjudgment} misjudgments, "
        f"{counts.golden_error} golden errors, {counts.undecided} undecided, {counts.stale} stale",
        f"review={evaluation.near(path)}",
    ]
