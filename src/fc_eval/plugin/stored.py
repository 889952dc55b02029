"""Runs that are on disk already: replayed, resumed from a journal, or answers made elsewhere.

In each case the stored traces take the place of agent runs, and the stored header says which cases
the session is about. Nothing is mixed: what shaped the stored traces must be as it was.
"""

from __future__ import annotations

import hashlib
import platform
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import pytest

from fc_eval.errors import ArtifactError, ConfigError
from fc_eval.files import RAW_RUN, REPORT, read_raw_run, read_report
from fc_eval.journal import JournalHeader, read_journal
from fc_eval.records.case import AnyCase
from fc_eval.records.report import CaseResult, ReportV1
from fc_eval.records.run import (
    ErrorCode,
    ErrorKind,
    Harness,
    InputHashes,
    RawRunV1,
    RunError,
    Selection,
    Status,
    Trace,
)

REFUSED_IN_REPLAY = ("cases", "tools")
"""With another suite or other tools a stored trace answers another question."""
JUDGE_ONLY = ("judge_rules",)
"""What a resumed run may meet changed: it shapes verdicts, not traces."""


@dataclass(frozen=True, kw_only=True)
class StoredRun:
    """A run that this session takes up.

    `traces` holds, by case id and repeat, the runs that need not be made again. `folder` is where
    a resumed run goes on, None for a replay. `notes` are for the header.
    """

    header: JournalHeader
    traces: Mapping[str, Mapping[int, Trace]]
    folder: Path | None
    report: ReportV1 | None
    notes: tuple[str, ...]

    @property
    def selected(self) -> frozenset[str]:
        """The cases that this session is about."""
        if self.folder is None:
            return frozenset(self.traces)
        return frozenset(self.header.selection.case_ids)


def open_replay(path: Path, present: InputHashes) -> StoredRun:
    """Take up a recorded run, to judge it again.

    Args:
        path: A raw run, or the folder that holds one.
        present: The hashes of this session's inputs.

    Raises:
        ArtifactError: It can't be read, or it is of another suite or other tools.
    """
    run = read_raw_run(path)
    differing = run.input_hashes.differing(present)
    refused = [name for name in differing if name in REFUSED_IN_REPLAY]
    if refused:
        raise ArtifactError(
            f"the recorded run has another {' and '.join(refused)} hash than this suite",
            path=path,
            fix="replay it in the state of the project that it was recorded in",
        )
    header = JournalHeader(
        run_id=run.run_id,
        started_at=run.started_at,
        harness=run.harness,
        model=run.model,
        input_hashes=run.input_hashes,
        selection=run.selection,
        repeats=run.repeats,
    )
    notes = [f"replays run {run.run_id}; nothing is sent"]
    if differing:
        notes.append(f"differs from the recorded run in: {', '.join(differing)}")
    missing = list(_unrecorded(run))
    if missing:
        notes.append(f"runs that were not recorded, AGENT_ERROR not_run: {len(missing)}")
    folder = path if path.is_dir() else path.parent
    stored_report = folder / REPORT if path.is_dir() or path.name == RAW_RUN else None
    return StoredRun(
        header=header,
        traces=_by_case([*run.cases, *missing]),
        folder=None,
        report=read_report(stored_report) if stored_report and stored_report.is_file() else None,
        notes=tuple(notes),
    )


def _unrecorded(run: RawRunV1) -> Iterator[Trace]:
    """What the run was asked for and does not have: it was not measured, whatever the rest says."""
    recorded = {(trace.case_id, trace.repeat) for trace in run.cases}
    skipped = {trace.case_id for trace in run.cases if trace.status is Status.SKIPPED}
    error = RunError(
        kind=ErrorKind.AGENT_EXCEPTION,
        code=ErrorCode.NOT_RUN,
        message="the recorded run has no such run of this case",
    )
    for case_id in run.selection.case_ids:
        for repeat in range(1, run.repeats + 1):
            if (case_id, repeat) not in recorded and case_id not in skipped:
                yield Trace(case_id=case_id, repeat=repeat, status=Status.AGENT_ERROR, error=error)


def open_resume(folder: Path, present: InputHashes) -> StoredRun:
    """Take up an interrupted run, to finish it.

    Runs that ended in an agent error are made again.

    Raises:
        ArtifactError: Its journal can't be read, or what shaped its traces has changed.
    """
    stored = read_journal(folder)
    header = stored.header
    changed = [n for n in header.input_hashes.differing(present) if n not in JUDGE_ONLY]
    if changed:
        raise ArtifactError(
            f"the run to resume was made with other inputs: {', '.join(changed)} changed since",
            path=folder,
            fix="put them back as they were, or start a new run",
        )
    kept = [trace for trace in stored.traces if trace.status is not Status.AGENT_ERROR]
    due = len(header.selection.case_ids) * header.repeats
    return StoredRun(
        header=header,
        traces=_by_case(kept),
        folder=folder,
        report=None,
        notes=(f"resumes run {header.run_id}: {len(kept)} of {due} are there", *stored.warnings),
    )


def open_predictions(path: Path, cases: Sequence[AnyCase], present: InputHashes) -> StoredRun:
    """Take answers to BFCL entries that were made elsewhere for a run.

    Answers to subsets that the session is not about are left aside, with a note.

    Args:
        path: What `fc_eval.bfcl.predictions.read_predictions` reads.
        cases: The entries of the session.
        present: The hashes of this session's inputs.

    Raises:
        ConfigError: It can't be read, or it has an id that is none of BFCL's.
    """
    from fc_eval.bfcl.entries import SUBSETS
    from fc_eval.bfcl.judging import trace_of
    from fc_eval.bfcl.predictions import read_predictions

    answers = read_predictions(path)
    asked = {case.category for case in cases}
    ids = {case.id for case in cases}
    others = [name for name in answers if name not in ids]
    aside = [
        n for n in others if (subset := n.rpartition("_")[0]) in SUBSETS and subset not in asked
    ]
    unknown = [name for name in others if name not in set(aside)]
    if unknown:
        raise ConfigError(
            f"{len(unknown)} predictions are of no BFCL entry, the first of {unknown[0]!r}",
            path=path,
            fix="correct the ids, or take the lines out",
        )
    traces = [trace_of(case.id, answers.get(case.id)) for case in cases]
    missing = sum(trace.status is Status.AGENT_ERROR for trace in traces)
    notes = [f"scores {len(traces) - missing} answers of {path.name}; nothing is sent"]
    if missing:
        notes.append(f"entries without an answer there, AGENT_ERROR not_run: {missing}")
    if aside:
        notes.append(f"answers to other subsets, left aside: {len(aside)}")
    header = JournalHeader(
        run_id=uuid.uuid4().hex[:12],
        started_at=utc_now(),
        harness=this_harness(),
        model={"slug": f"predictions/{path.stem}", "agent": "predictions"},
        input_hashes=replace(present, model_config=_content_digest(path)),
        selection=Selection(
            case_ids=tuple(case.id for case in cases),
            suite_size=len(cases),
            case_digests={case.id: case.digest for case in cases},
        ),
        repeats=1,
    )
    return StoredRun(
        header=header, traces=_by_case(traces), folder=None, report=None, notes=tuple(notes)
    )


def _content_digest(path: Path) -> str:
    files = sorted(path.rglob("*_result.json")) if path.is_dir() else [path]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def this_harness() -> Harness:
    """What runs the cases here and now."""
    return Harness(
        name="pytest-fc-eval",
        version=version("pytest-fc-eval"),
        python=platform.python_version(),
        pytest=pytest.__version__,
    )


def utc_now() -> str:
    """The time in UTC as ISO 8601 text, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _by_case(traces: Iterable[Trace]) -> dict[str, dict[int, Trace]]:
    grouped: dict[str, dict[int, Trace]] = {}
    for trace in traces:
        grouped.setdefault(trace.case_id, {})[trace.repeat] = trace
    return grouped


def moved_verdicts(before: ReportV1, after: ReportV1) -> list[tuple[CaseResult, CaseResult]]:
    """The runs whose verdict or codes are not what they were, in the order of *after*."""
    old = {(result.case_id, result.repeat): result for result in before.results}
    pairs = ((old.get((new.case_id, new.repeat)), new) for new in after.results)
    return [
        (was, new)
        for was, new in pairs
        if was is not None
        and (was.verdict, was.taxonomies, was.diff) != (new.verdict, new.taxonomies, new.diff)
    ]
