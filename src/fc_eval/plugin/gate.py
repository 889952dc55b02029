"""Verdicts and coverage → whether the session is green.

The items speak for themselves: under gate `cases` a FAIL is a failed test. This module decides what
no single item can: whether enough was judged, and what the one line `gate=` says.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from fc_eval.plugin.options import GateMode
from fc_eval.records.report import Coverage

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a session comes to, as far as its gate is concerned.

    `fails` counts the FAIL cases that the gate does not excuse. `no_baseline` says why there is
    nothing to compare with.
    """

    coverage: Coverage
    fails: int
    agent_errors: int
    no_baseline: str | None = None


def decide(mode: GateMode, found: Found, *, min_coverage: float, interrupted: bool) -> GateResult:
    """Judge a session.

    Args:
        mode: The gate.
        found: What the session comes to.
        min_coverage: The smallest judged share of the planned, unskipped cases, 0 to 1.
        interrupted: Whether the session was stopped before its end.
    """
    coverage = found.coverage
    if interrupted:
        return GateResult(
            reason=f"interrupted: {coverage.judged} of {coverage.planned} cases judged",
            by_items=True,
        )
    if mode is GateMode.NONE:
        return GateResult()
    by_items = []
    if found.fails:
        by_items.append(f"{_cases(found.fails)} FAIL")
    if found.agent_errors:
        by_items.append(f"{_cases(found.agent_errors)} AGENT_ERROR")
    of_its_own = [
        reason
        for reason in (
            low_coverage(coverage, min_coverage),
            _nothing_compared(found) if mode is GateMode.BASELINE else None,
        )
        if reason is not None
    ]
    return GateResult(reason="; ".join([*by_items, *of_its_own]) or None, by_items=not of_its_own)


def _nothing_compared(found: Found) -> str | None:
    if found.no_baseline is not None:
        return found.no_baseline
    return None if found.coverage.judged else "nothing was judged, so nothing was compared"


def low_coverage(coverage: Coverage, min_coverage: float) -> str | None:
    """Why so little was judged that the session can't be green, or None."""
    share = coverage.judged_share
    if share is None or share >= min_coverage:
        return None
    due = coverage.planned - coverage.skipped
    return (
        f"coverage {share:.1%} is below {min_coverage:.1%}: {coverage.judged} of {due} cases "
        f"judged, {coverage.agent_errors} agent errors, {coverage.lost} lost"
    )


def _cases(count: int) -> str:
    return f"{count} case{'s' if count != 1 else ''}"


def publish(session: pytest.Session, text: str) -> None:
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
    # One more than was collected, or the progress would pass 100 %.
    session.testscollected += 1
    session.config.hook.pytest_runtest_logreport(report=report)
