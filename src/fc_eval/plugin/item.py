"""One case as a pytest item.

setup awaits what the agent did, runtest asserts the verdict, repr_failure shows it. An agent error
is raised in setup, since pytest calls a failure there an error: the model was not measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pytest
from _pytest._code.code import (
    ExceptionInfo,
    ReprEntry,
    ReprExceptionInfo,
    ReprFileLocation,
    ReprTraceback,
    TerminalRepr,
)

from fc_eval.calibration.compare import Gate
from fc_eval.plugin.options import GateMode
from fc_eval.records.case import AnyCase
from fc_eval.records.run import Status, Trace
from fc_eval.records.verdict import Judgement, Verdict
from fc_eval.report.failures import agent_error_lines

if TYPE_CHECKING:
    from fc_eval.plugin.session import Evaluation


class CaseFailed(Exception):  # noqa: N818 - it is a verdict, not an error
    """The judge's verdict on a case is FAIL."""


class AgentRunError(Exception):
    """The agent's run ended without a measurement."""


def _exercise_case(fc_domain: Any, fc_sandbox: Any, fc_agent: Any) -> None:
    """What a case asks of pytest's fixtures; `CaseItem.runtest` does the work."""


def _exercise_entry(fc_agent: Any) -> None:
    """As `_exercise_case`, for a benchmark's entry."""


_EXERCISES: dict[tuple[str, ...], Callable[..., None]] = {
    ("fc_domain", "fc_sandbox", "fc_agent"): _exercise_case,
    ("fc_agent",): _exercise_entry,
}


class CaseItem(pytest.Function):
    """A line of a case file, or an entry of a benchmark.

    A `pytest.Function`, so that fixtures, autouse fixtures and other plugins treat it as any test.
    """

    def __init__(
        self,
        name: str,
        parent: Any,
        *,
        case: AnyCase,
        line: int,
        evaluation: Evaluation,
        **kwargs: Any,
    ) -> None:
        callobj = _EXERCISES[evaluation.suite.fixtures]
        super().__init__(name, parent, callobj=callobj, **kwargs)
        self.file = parent
        self.case = case
        self.line = line
        self.evaluation = evaluation
        self.traces: tuple[Trace, ...] = ()
        self.judgements: tuple[Judgement, ...] = ()
        self.waited_s = 0.0
        self.add_marker(pytest.mark.fc(**evaluation.suite.fields_of(case)))
        for tag in evaluation.suite.tags_of(case):
            self.add_marker(tag)
        if evaluation.baseline_says(case) is Gate.KNOWN_FAILURE:
            # Agent errors are no known failures: only a FAIL is excused.
            known = pytest.mark.xfail(
                reason="known failure in the baseline", raises=CaseFailed, strict=False
            )
            self.add_marker(known)
        reason = evaluation.skip_reason(case)
        if reason is not None:
            # A mark, since pytest then names the case's line and not this one.
            self.add_marker(pytest.mark.skip(reason=reason))

    @property
    def elapsed_s(self) -> float:
        """What the agent's runs took, however much of it this item had to wait for."""
        return sum(trace.elapsed_ms or 0.0 for trace in self.traces) / 1000

    def reportinfo(self) -> tuple[Any, int, str]:
        """The file, the line counted from 0, and the case's id."""
        return self.config.rootpath / self.file.nodeid, self.line - 1, self.name

    @property
    def ihook(self) -> Any:
        """The hooks of its file."""
        return self.file.ihook

    def setup(self) -> None:
        """Fill the fixtures, then await the agent's runs.

        Raises:
            AgentRunError: One of them ended without a measurement.
        """
        self.traces, self.judgements = (), ()
        super().setup()
        self.traces = self.evaluation.runner.traces_of(self)
        for trace in self.traces:
            if trace.status is Status.AGENT_ERROR:
                self._report_agent_error(trace)

    def _report_agent_error(self, trace: Trace) -> None:
        code = trace.error.code if trace.error else "unknown"
        if self.evaluation.gate is GateMode.NONE:
            # A no-op under --runxfail, after which the error shows as it is.
            pytest.xfail(f"gate none: AGENT_ERROR {code}")
        raise AgentRunError(code)

    def runtest(self) -> None:
        """Assert that every run of the case passes.

        Raises:
            CaseFailed: One does not.
        """
        self.judgements = tuple(self.judge(trace) for trace in self.traces)
        failed = [j for j in self.judgements if j.verdict is Verdict.FAIL]
        if failed:
            code = failed[0].taxonomy
            reason = self._excuse(len(failed))
            if reason is not None:
                self.add_marker(pytest.mark.xfail(reason=f"{reason}: FAIL {code}", strict=False))
            raise CaseFailed(code)

    def _excuse(self, failed: int) -> str | None:
        """Why a FAIL does not fail the session here, None where it does."""
        if self.evaluation.gate is GateMode.NONE:
            return "gate none"
        return self.evaluation.excuse(self.case, runs=len(self.traces), failed=failed)

    def judge(self, trace: Trace) -> Judgement:
        """The verdict on one run."""
        return self.evaluation.suite.judge(self.case, trace)

    def repr_failure(
        self, excinfo: ExceptionInfo[BaseException], style: Any = None
    ) -> str | TerminalRepr:
        """The rich diff of a FAIL, the story of an agent error, pytest's own text else."""
        if isinstance(excinfo.value, CaseFailed):
            return self._located(self.failure_lines(), f"FAIL {excinfo.value}")
        if isinstance(excinfo.value, AgentRunError):
            return self._located(self._error_lines(), f"AGENT_ERROR {excinfo.value}")
        return self._without_secrets(super().repr_failure(excinfo))

    def failure_lines(self) -> list[str]:
        """The diff of every run that failed."""
        lines: list[str] = []
        verbose = self.config.get_verbosity() > 0
        for trace, judgement in zip(self.traces, self.judgements, strict=True):
            if judgement.verdict is not Verdict.FAIL:
                continue
            if len(self.traces) > 1:
                lines.append(f"run {trace.repeat} of {len(self.traces)}")
            lines.extend(self.explain(trace, judgement, verbose=verbose))
        return lines

    def explain(self, trace: Trace, judgement: Judgement, *, verbose: bool) -> list[str]:
        """The diff of one failed run."""
        return self.evaluation.suite.explain(self.case, trace, judgement, verbose=verbose)

    def _error_lines(self) -> list[str]:
        broken = (t for t in self.traces if t.status is Status.AGENT_ERROR)
        return [
            line for trace in broken for line in agent_error_lines(self.case.instruction, trace)
        ]

    def _located(self, lines: Sequence[str], message: str) -> TerminalRepr:
        # The parts that pytest itself sends from a worker to the controller, so that the text is
        # the same with and without xdist, and JUnit and the short summary find the message.
        where = ReprFileLocation(self.location[0], self.line, message)
        redact = self.evaluation.redact
        entry = ReprEntry([redact(line) for line in lines], None, None, where, "value")
        traceback = ReprTraceback([entry], None, "value")
        return ReprExceptionInfo(reprtraceback=traceback, reprcrash=where)

    def _without_secrets(self, text: str | TerminalRepr) -> str | TerminalRepr:
        # --showlocals prints whatever a frame holds, such as a request's headers.
        clean = self.evaluation.redact(str(text))
        return text if clean == str(text) else clean
