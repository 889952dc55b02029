"""The hooks of a session that has cases; registered only there.

`Running` is on every process that runs items, `Recording` on the one that reports: the controller,
or the only process. With pytest-xdist they are apart, without it they are side by side.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from fc_eval.errors import FcEvalError, RefusedError
from fc_eval.plugin import calibrate, gate, summary
from fc_eval.plugin.gather import Artifacts, RunLog, attach, detach
from fc_eval.plugin.item import CaseItem
from fc_eval.plugin.runner import must_wait_its_turn
from fc_eval.plugin.session import WORKER_INPUT
from fc_eval.records.codec import canonical
from fc_eval.records.report import CaseOutcome, ReportV1
from fc_eval.records.run import RawRunV1, Status
from fc_eval.records.verdict import Verdict

if TYPE_CHECKING:
    from fc_eval.plugin.session import Evaluation


class Running:
    """Runs the items of this process."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Leave out the cases that a stored run is not about."""
        out = [i for i in _cases_of(items) if self._evaluation.deselects(i.case)]
        if out:
            left = set(out)
            items[:] = [item for item in items if item not in left]
            config.hook.pytest_deselected(items=out)

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Put in what no folder holds."""
        report = yield
        if isinstance(collector, pytest.Session):
            nodes = self._evaluation.suite.collect(collector, self._evaluation)
            report.result = [*(report.result or ()), *nodes]
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Tell the runner what comes; end it with the loop, whatever ends that."""
        self._evaluation.runner.plan(_cases_of(session.items))
        try:
            return (yield)
        finally:
            self._evaluation.runner.close()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Let a case's reports carry its traces and its facts."""
        report = yield
        if isinstance(item, CaseItem):
            if call.excinfo is not None and report.failed:
                # pytest asks an item for its own text in the call phase only.
                report.longrepr = item.repr_failure(call.excinfo)
            attach(report, item, call)
            _tell(item)
            report.user_properties = list(item.user_properties)
        return report

    @pytest.hookimpl(optionalhook=True)
    def pytest_json_runtest_metadata(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> dict[str, Any]:
        """What pytest-json-report shows of a case."""
        if not isinstance(item, CaseItem) or call.when == "teardown":
            return {}
        return {"fc_eval": _facts(item)} if item.traces else {}


def _tell(item: CaseItem) -> None:
    # Replaced, not appended: a rerun reuses the item. JSON text, since JUnit writes str(value).
    kept = [pair for pair in item.user_properties if pair[0] != "fc_eval"]
    facts = [("fc_eval", canonical(_facts(item)))] if item.traces else []
    item.user_properties[:] = [*kept, *facts]


def _facts(item: CaseItem) -> dict[str, Any]:
    return {
        "case_id": item.case.id,
        "line": item.line,
        "verdicts": [judgement.verdict.value for judgement in item.judgements]
        or [_unjudged(trace.status) for trace in item.traces],
        "taxonomies": sorted({code for j in item.judgements for code in j.taxonomies}),
        "elapsed_ms": round(item.elapsed_s * 1000, 3),
    }


def _unjudged(status: Status) -> str:
    return {"agent_error": "AGENT_ERROR", "skipped": "SKIP"}.get(status.value, status.value)


def _cases_of(items: Sequence[pytest.Item]) -> list[CaseItem]:
    return [item for item in items if isinstance(item, CaseItem)]


class Recording:
    """Keeps what the items leave, writes the artifacts, says how it went."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self.log = RunLog(evaluation)
        self.artifacts: Artifacts | None = None
        self.run: RawRunV1 | None = None
        self.report: ReportV1 | None = None
        self.gate: gate.GateResult | None = None
        self.notes: list[str] = []
        self._unwritten: str | None = None

    def pytest_report_header(self) -> list[str]:
        """Model, endpoint class, cases, gate."""
        return summary.header_lines(self._evaluation)

    def pytest_report_collectionfinish(self, items: Sequence[pytest.Item]) -> str | None:
        """Say once which cases can't run ahead."""
        waiting = [item for item in _cases_of(items) if must_wait_its_turn(item)]
        if not waiting or self._evaluation.concurrency == 1:
            return None
        return (
            f"fc-eval: {len(waiting)} cases run in their turn, since a fixture of function scope "
            "comes before each"
        )

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Open the run before the first item, and close it after the last."""
        if session.config.option.collectonly:
            return (yield)
        if not self._evaluation.distributed:
            self._open([item.case.id for item in _cases_of(session.items)])
            self._evaluation.runner.on_trace = self.log.add
        interrupted = True
        try:
            result = yield
            interrupted = False
            return result
        finally:
            self._finish(session, interrupted=interrupted)

    def _open(self, planned: Sequence[str]) -> None:
        try:
            self.log.open(planned)
        except FcEvalError as error:
            raise pytest.UsageError(str(error)) from error

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker what it must find as well."""
        node.workerinput[WORKER_INPUT] = self._evaluation.fingerprint

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """A worker says what it will run; all workers say the same."""
        self._open(self._evaluation.case_ids(ids))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the traces off the report and into the journal."""
        for trace in detach(report):
            self.log.add(trace)
        try:
            self.log.check()
        except FcEvalError as error:
            raise pytest.UsageError(str(error)) from error

    def pytest_report_teststatus(
        self, report: pytest.CollectReport | pytest.TestReport
    ) -> tuple[str, str, str] | None:
        """Call an agent error by its name in verbose output."""
        crash = getattr(report.longrepr, "reprcrash", None)
        message = getattr(crash, "message", "")
        if report.when == "setup" and report.failed and message.startswith("AGENT_ERROR"):
            return "error", "E", "AGENT_ERROR"
        return None

    def _finish(self, session: pytest.Session, *, interrupted: bool) -> None:
        if not self.log.opened:
            return
        evaluation = self._evaluation
        self.log.discarded = evaluation.runner.close()
        try:
            self.artifacts, self.run, self.report = self.log.finish()
            self._conclude(session, interrupted=interrupted)
        except FcEvalError as error:
            self._unwritten = str(error)
            if not interrupted:
                raise pytest.UsageError(str(error)) from error
        finally:
            self.log.close()

    def _conclude(self, session: pytest.Session, *, interrupted: bool) -> None:
        """Let the gate speak, and do what was asked for beside the run."""
        evaluation, run, report = self._evaluation, self.run, self.report
        if run is None or report is None:
            return
        self.gate = gate.decide(
            evaluation.gate,
            _found(evaluation, report),
            min_coverage=evaluation.settings.min_coverage,
            interrupted=interrupted,
        )
        if evaluation.settings.lock and not interrupted:
            self.gate = self._lock(run)
        if evaluation.settings.write_review:
            self.notes.extend(calibrate.review_lines(evaluation, report))
        if not self.gate.passed and not self.gate.by_items:
            gate.publish(session, self.gate.line)

    def _lock(self, run: RawRunV1) -> gate.GateResult:
        try:
            lock = calibrate.lock(self._evaluation, [run])
        except RefusedError as error:
            self.notes.extend(str(error).splitlines())
            return gate.GateResult(reason="the baseline is not locked, for the reasons above")
        self.notes.extend(calibrate.lock_lines(self._evaluation, lock))
        return gate.GateResult()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """The last section: what was measured, and where it is kept."""
        if self._unwritten is not None:
            terminalreporter.section("fc-eval")
            terminalreporter.line(f"eval_fc=failed {self._unwritten}")
        elif self.report is not None:
            terminalreporter.section("fc-eval")
            for line in summary.summary_lines(self._evaluation, self):
                terminalreporter.line(line)


def _found(evaluation: Evaluation, report: ReportV1) -> gate.Found:
    failing = [o for o in report.outcomes().values() if o.verdict is Verdict.FAIL]
    return gate.Found(
        coverage=report.coverage,
        fails=sum(not _is_excused(evaluation, outcome) for outcome in failing),
        agent_errors=report.summary.verdict_counts.AGENT_ERROR,
        no_baseline=evaluation.no_baseline,
    )


def _is_excused(evaluation: Evaluation, outcome: CaseOutcome) -> bool:
    failed = sum(result.verdict is Verdict.FAIL for result in outcome.results)
    case = evaluation.by_id[outcome.case_id]
    return evaluation.excuse(case, runs=len(outcome.results), failed=failed) is not None
