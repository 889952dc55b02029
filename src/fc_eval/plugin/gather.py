"""What reports carry → one run: journal, raw run, report; with and without pytest-xdist.

Every phase report of a case carries its traces as one JSON text in an attribute, which pytest-xdist
sends to the controller as it is. There, and in a session without workers, `RunLog` keeps them: one
line in the journal as a run ends, one raw run and one report at the end.
"""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fc_eval.errors import ArtifactError, FcEvalError
from fc_eval.files import RAW_RUN, REPORT, run_folder, write_raw_run, write_report
from fc_eval.journal import Journal, JournalHeader
from fc_eval.plugin.stored import StoredRun, this_harness, utc_now
from fc_eval.records.codec import canonical
from fc_eval.records.report import ReportV1
from fc_eval.records.run import (
    ErrorCode,
    ErrorKind,
    RawRunV1,
    RunError,
    Selection,
    Status,
    Trace,
)

if TYPE_CHECKING:
    from fc_eval.plugin.item import CaseItem
    from fc_eval.plugin.session import Evaluation

CARRIED = "fc_traces"
"""The attribute of a report in which the traces of its item travel, as JSON text."""


def attach(report: pytest.TestReport, item: CaseItem, call: pytest.CallInfo[None]) -> None:
    """Put an item's traces on the report that ends its run, and its own duration on each."""
    if report.when == "setup":
        report.duration = max(0.0, report.duration - item.waited_s)
        if report.passed:
            return
        report.duration += item.elapsed_s
        if not item.traces:
            item.traces = (_without_a_run(item, report, call),)
    elif report.when == "call":
        report.duration += item.elapsed_s
    else:
        return
    text = canonical([trace.to_dict() for trace in item.traces])
    setattr(report, CARRIED, text)


def _without_a_run(item: CaseItem, report: pytest.TestReport, call: pytest.CallInfo[None]) -> Trace:
    """The trace of an item that ended in setup before its agent was asked."""
    if report.skipped:
        return Trace(case_id=item.case.id, status=Status.SKIPPED)
    reason = item.evaluation.redact(call.excinfo.exconly() if call.excinfo else "setup failed")
    error = RunError(
        kind=ErrorKind.AGENT_EXCEPTION, code=ErrorCode.EXCEPTION, message=f"setup: {reason}"
    )
    return Trace(case_id=item.case.id, status=Status.AGENT_ERROR, error=error)


def detach(report: pytest.TestReport) -> list[Trace]:
    """Take the traces off a report; they are kept in one place only."""
    text = report.__dict__.pop(CARRIED, None)
    return [] if text is None else [Trace.from_dict(data) for data in json.loads(text)]


@dataclass(frozen=True, kw_only=True)
class Artifacts:
    """What a session left on disk."""

    raw_run: Path
    report: Path


class RunLog:
    """The traces of one session, kept on the controller.

    Args:
        evaluation: The session's suite, domain and model.
    """

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._started_at = utc_now()
        self._traces: dict[tuple[str, int], Trace] = {}
        self._journal: Journal | None = None
        self._header: JournalHeader | None = None
        self._folder = Path()
        self._lock = threading.Lock()
        self._broken: FcEvalError | None = None
        self.discarded = 0

    def open(self, planned: Sequence[str]) -> None:
        """Say which cases this session will run, and open the journal.

        Raises:
            ArtifactError: The folder can't be written, or another session is at work in it.
        """
        if self._journal is not None or not planned:
            return
        evaluation = self._evaluation
        redact = evaluation.redactor.value
        stored = evaluation.stored
        if stored is not None and stored.folder is not None:
            self._folder = stored.folder
            self._journal, journal = Journal.resume(stored.folder, redact=redact)
            self._header = journal.header
            self._traces = {(trace.case_id, trace.repeat): trace for trace in journal.traces}
            self._refuse_newer(stored)
            return
        header = self._header = self._new_header(planned)
        # A replay keeps the id of the run, and may start in the same second.
        folder_id = header.run_id if stored is None else _new_id()
        self._folder = run_folder(
            evaluation.settings.rootdir, self._started_at, evaluation.model_name, folder_id
        )
        self._journal = Journal.create(self._folder, header, redact=redact)

    def _refuse_newer(self, stored: StoredRun) -> None:
        """Refuse a journal that went on since this session read it: it would ask again."""
        for (case_id, repeat), trace in self._traces.items():
            known = repeat in stored.traces.get(case_id, {})
            if not known and trace.status is not Status.AGENT_ERROR:
                raise ArtifactError(
                    "another session wrote in this folder meanwhile",
                    path=self._folder,
                    fix=f"resume it again, with --fc-resume {self._folder}",
                )

    def _new_header(self, planned: Sequence[str]) -> JournalHeader:
        evaluation = self._evaluation
        selection = Selection(
            case_ids=tuple(planned),
            suite_size=len(evaluation.suite.cases),
            case_digests={case_id: evaluation.by_id[case_id].digest for case_id in planned},
        )
        if evaluation.stored is not None:
            # A replay is the recorded run once more, as far as it is selected.
            return replace(evaluation.stored.header, selection=selection)
        return JournalHeader(
            run_id=_new_id(),
            started_at=self._started_at,
            harness=this_harness(),
            model=evaluation.model_block,
            input_hashes=evaluation.input_hashes,
            selection=selection,
            repeats=evaluation.repeats,
        )

    @property
    def opened(self) -> bool:
        """Whether this session has run anything."""
        return self._journal is not None

    def add(self, trace: Trace) -> None:
        """Keep a finished run; the same run told twice counts once. Safe from any thread."""
        with self._lock:
            key = trace.case_id, trace.repeat
            if self._journal is None or self._traces.get(key) == trace:
                return
            self._traces[key] = trace
            try:
                self._journal.append(trace)
            except FcEvalError as error:
                # A thread of the engine can't end the session; the next report does.
                self._broken = self._broken or error

    def check(self) -> None:
        """Raise what went wrong in the journal since.

        Raises:
            ArtifactError: A line could not be written.
        """
        if self._broken is not None:
            raise self._broken

    def finish(self) -> tuple[Artifacts, RawRunV1, ReportV1]:
        """Write raw run and report.

        Raises:
            ArtifactError: One of them can't be written.
        """
        if self._header is None:
            raise ValueError("finish was called before open")
        self.check()
        with self._lock:
            run = self._header.to_run(self._traces.values(), finished_at=utc_now())
        report = self._evaluation.compare(self._evaluation.judge(run))
        redact = self._evaluation.redactor.value
        artifacts = Artifacts(
            raw_run=self._folder / RAW_RUN,
            report=self._folder / REPORT,
        )
        write_raw_run(artifacts.raw_run, run, redact=redact)
        write_report(artifacts.report, report, redact=redact)
        return artifacts, run, report

    def close(self) -> None:
        """Let go of the journal, whatever happened."""
        if self._journal is not None:
            self._journal.close()


def _new_id() -> str:
    return uuid.uuid4().hex[:12]
