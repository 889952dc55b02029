"""Verdicts and coverage → whether the session is green.

The items speak for themselves: under gate `cases` a FAIL is a failed test. This module decides what
no single item can: whether enough was judged, and what the one line `gate=` says.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from fc_eval.plugin.options import GateMode
from fc_eval.records.report import Coverage, ReportV1

GATE_ID = "fc-gate"
"""The name of the failed report by which the session itself fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """What the gate says.

    `reason` is None where it passed. `by_items` is true where the items' own outcomes fail the
    session already, so that no report has to be published for it.
    """

    reason: str | None = None
    by_items: bool = False

    @property
    def passed(self) -> bool:
        """Whether nothing speaks against the session."""
        return self.reason is None

    @property
    def line(self) -> str:
        """The line of the terminal summary."""
        return "gate=passed" if self.passed else f"gate=failed {self.reason}"


def decide(
    mode: GateMode, report: ReportV1, *, min_coverage: float, interrupted: bool
) -> GateResult:
    """Judge a session by its report.

    Args:
        mode: The gate.
        report: Of this session.
        min_coverage: The smallest judged share of the planned, unskipped cases, 0 to 1.
        interrupted: Whether the session was stopped before its end.
    """
    coverage = report.coverage
    if interrupted:
        return GateResult(
            reason=f"interrupted: {coverage.judged} of {coverage.planned} cases judged",
            by_items=True,
        )
    if mode is GateMode.NONE:
        return GateResult()
    counts = report.summary.verdict_counts
    reasons = []
    if counts.FAIL:
        reasons.append(f"{_cases(counts.FAIL)} FAIL")
    if counts.AGENT_ERROR:
        reasons.append(f"{_cases(counts.AGENT_ERROR)} AGENT_ERROR")
    low = low_coverage(coverage, min_coverage)
    if low is not None:
        reasons.append(low)
    return GateResult(
        reason="; ".join(reasons) or None,
        by_items=bool(counts.FAIL or counts.AGENT_ERROR) and not coverage.lost,
    )


def low_coverage(coverage: Coverage, min_coverage: float) -> str | None:
    """Why so little was judged that the session can't be green, or None."""
    share = coverage.judged_share
    if share is None or share >= min_coverage:
        return None
    due = coverage.planned - coverage.skipped
    text = (
        f"coverage {share:.1%} is below {min_coverage:.1%}: {coverage.judged} of {due} cases "
        f"judged, {coverage.agent_errors} agent errors, {coverage.lost} lost"
    )
    return text


def _cases(count: int) -> str:
    return f"{count} case{'s' if count != 1 else ''}"


def publish(config: pytest.Config, text: str) -> None:
    """Fail the session by one report of its own.

    One failed report makes exit code, terminal, JSON report and JUnit agree, with and without
    pytest-xdist; setting the exit status alone does not.
    """
    report = pytest.TestReport(
        nodeid=GATE_ID,
        location=(GATE_ID, None, GATE_ID),
        keywords={GATE_ID: 1},
        outcome="failed",
        longrepr=text,
        when="call",
    )
    config.hook.pytest_runtest_logreport(report=report)
