"""Offline commands that take the place of a test run.

They run as pytest sessions, so that conftests, hooks and usage errors work as they always do:
everything is checked when the session starts, and each command then says what it found. Nothing is
sent.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pytest
from _pytest.main import wrap_session

from fc_eval.calibration.compare import compare_reports
from fc_eval.calibration.lock import JUDGED_BY
from fc_eval.calibration.merge import merge_runs
from fc_eval.cases.coverage import coverage_matrix
from fc_eval.errors import ArtifactError, FcEvalError, RefusedError
from fc_eval.files import (
    RAW_RUN,
    REPORT,
    RUNS_FOLDER,
    read_raw_run,
    read_report,
    run_folder,
    write_consistency,
    write_raw_run,
    write_report,
)
from fc_eval.plugin import calibrate
from fc_eval.plugin.options import EVALUATION
from fc_eval.plugin.session import Evaluation
from fc_eval.records.case import AnyCase
from fc_eval.records.report import ReportV1
from fc_eval.records.run import RawRunV1
from fc_eval.report.calibration_lines import consistency_lines, cost_lines
from fc_eval.report.lines import comparison_lines, headline, report_lines
from fc_eval.report.show import show_lines

CONSISTENCY = Path(".fc_eval") / "consistency.json"

Command: TypeAlias = Callable[[pytest.Session, Evaluation], Iterator[str]]


def run_command(config: pytest.Config) -> int:
    """Do the command that the options name; the result is pytest's exit code."""
    # No workers: there is nothing to distribute.
    config.option.dist = "no"
    config.option.tx = []
    return int(wrap_session(config, _in_session(_chosen(config))))


def _chosen(config: pytest.Config) -> Command:
    commands: dict[str, Command] = {
        "fc_validate": _validate,
        "fc_show": _show,
        "fc_compare": _compare,
        "fc_consistency": _consistency,
        "fc_merge": _merge,
        "fc_from": _lock,
        "fc_write_review": _review,
    }
    chosen = [name for name in commands if config.getoption(name)]
    return commands[chosen[0]]


def _in_session(command: Command) -> Callable[[pytest.Config, pytest.Session], int]:
    def run(config: pytest.Config, session: pytest.Session) -> int:
        evaluation = config.stash.get(EVALUATION, None)
        if evaluation is None:
            raise pytest.UsageError(
                "no case files are under the arguments\n"
                "  fix: write a suite, or name it by the ini value fc_cases"
            )
        try:
            for line in command(session, evaluation):
                print(evaluation.redact(line))
        except RefusedError as error:
            print(error)
            return int(pytest.ExitCode.TESTS_FAILED)
        except FcEvalError as error:
            raise pytest.UsageError(str(error)) from error
        return int(pytest.ExitCode.OK)

    return run


def _paths(session: pytest.Session, option: str) -> list[Path]:
    given = session.config.getoption(option)
    names = [given] if isinstance(given, str) else given
    return [Path(session.config.invocation_params.dir, name) for name in names]


def _validate(session: pytest.Session, evaluation: Evaluation) -> Iterator[str]:
    """Say that all is sound; what of suite and domain is not was raised at the start."""
    if session.config.get_verbosity() > 0 and not evaluation.settings.bfcl:
        yield coverage_matrix(evaluation.suite.cases, evaluation.domain)
    yield "case_validation=passed"
    yield "domain_validation=passed"
    for path in evaluation.baseline_paths:
        baseline, check = calibrate.check_stored_baseline(evaluation, path)
        fault = calibrate.integrity_fault(path, check)
        if fault is not None:
            raise fault
        yield f"baseline {evaluation.near(path)}: {baseline.baseline_id}, {baseline.model_slug}"
        if check.outdated:
            yield f"baseline inputs changed since it was locked: {', '.join(check.outdated)}"
        if set(check.outdated) & set(JUDGED_BY):
            yield "baseline not judged again, since what a verdict depends on is among them"
    if evaluation.baseline_paths:
        yield "baseline_validation=passed"


def _show(session: pytest.Session, evaluation: Evaluation) -> Iterator[str]:
    """A stored run, all of it or the cases that -k and -m select."""
    (path,) = _paths(session, "fc_show")
    run = read_raw_run(path)
    report = _report_of(evaluation, path, run)
    option = session.config.option
    chosen = report.results
    if option.keyword or option.markexpr:
        session.perform_collect([str(path) for path in evaluation.case_paths])
        names = {item.name for item in session.items}
        chosen = tuple(result for result in report.results if result.case_id in names)

    def find(case_id: str) -> AnyCase | None:
        case = evaluation.by_id.get(case_id)
        digest = run.selection.case_digests.get(case_id)
        return case if case is not None and case.digest == digest else None

    verbose = session.config.get_verbosity() > 0
    shown = replace(report, results=chosen)
    explain = evaluation.suite.explain
    yield from show_lines(run, shown, find, verbose=verbose, explain=explain)
    yield f"run {run.run_id} of {report.model_slug}, {run.started_at}"
    yield from report_lines(report)


def _report_of(evaluation: Evaluation, path: Path, run: RawRunV1) -> ReportV1:
    stored = (path if path.is_dir() else path.parent) / REPORT
    return read_report(stored) if stored.is_file() else evaluation.judge(run)


def _compare(session: pytest.Session, evaluation: Evaluation) -> Iterator[str]:
    """Two runs, judged by the present rules; the first is the earlier one."""
    runs = calibrate.read_runs(_paths(session, "fc_compare"))
    before, after = (evaluation.judge(run) for run in runs)
    for report in (before, after):
        yield f"run {report.run_id} of {report.model_slug}: " + headline(report.statistics.accuracy)
    comparison = compare_reports(after, before)
    yield from comparison_lines(comparison)
    yield from cost_lines(before, after)


def _consistency(session: pytest.Session, evaluation: Evaluation) -> Iterator[str]:
    """Whether runs agree; refused or failed is exit 1."""
    runs = calibrate.read_runs(_paths(session, "fc_consistency"))
    consistency = calibrate.consistency_of(evaluation, runs)
    path = evaluation.settings.rootdir / CONSISTENCY
    write_consistency(path, consistency)
    yield from consistency_lines(consistency)
    yield f"consistency_path={evaluation.near(path)}"
    if not consistency.passed:
        raise RefusedError("consistency=failed", fix="find out what is not stable, or run again")
    yield "consistency=passed"


def _lock(session: pytest.Session, evaluation: Evaluation) -> Iterator[str]:
    """Lock stored runs."""
    if not evaluation.settings.lock:
        raise ArtifactError(
            "--fc-from names runs, but not what to do with them",
            fix="write --fc-lock-baseline --fc-from RUN RUN RUN",
        )
    lock = calibrate.lock(evaluation, calibrate.read_runs(_paths(session, "fc_from")))
    yield from calibrate.lock_lines(evaluation, lock)


def _merge(session: pytest.Session, evaluation: Evaluation) -> Iterator[str]:
    """One run of several, in a folder of its own, judged by the present rules."""
    parts = calibrate.read_runs(_paths(session, "fc_merge"))
    order = [case.id for case in evaluation.suite.cases]
    run = merge_runs(parts, order=order, run_id=uuid.uuid4().hex[:12])
    report = evaluation.compare(evaluation.judge(run))
    slug = str(run.model.get("slug", ""))
    folder = run_folder(evaluation.settings.rootdir, run.started_at, slug, run.run_id)
    redact = evaluation.redactor.value
    write_raw_run(folder / RAW_RUN, run, redact=redact)
    write_report(folder / REPORT, report, redact=redact)
    yield from report_lines(report)
    yield f"raw_run={evaluation.near(folder / RAW_RUN)}"
    yield f"report_path={evaluation.near(folder / REPORT)}"


def _review(session: pytest.Session, evaluation: Evaluation) -> Iterator[str]:
    """The review of the latest stored run."""
    report = evaluation.judge(_latest_run(evaluation))
    yield f"run {report.run_id} of {report.model_slug}, {report.started_at}"
    yield from calibrate.review_lines(evaluation, report)


def _latest_run(evaluation: Evaluation) -> RawRunV1:
    """The run of this suite that started last; runs of other suites lie in the same folder."""
    folder = evaluation.settings.rootdir / RUNS_FOLDER
    for path in sorted(folder.glob(f"*/{REPORT}"), reverse=True):
        run = read_raw_run(path.parent)
        if evaluation.by_id.keys() >= set(run.selection.case_ids):
            return run
    raise ArtifactError(
        "there is no stored run of this suite to review",
        path=RUNS_FOLDER,
        fix="run pytest --fc-eval first",
    )
