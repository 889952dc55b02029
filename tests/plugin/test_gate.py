"""What the gate says of a session, by what the session comes to."""

from __future__ import annotations

from typing import Any

import pytest

from fc_eval.plugin.gate import Found, decide
from fc_eval.plugin.options import GateMode
from fc_eval.records.report import Coverage

NO_BASELINE = "there is no baseline"


def found(
    judged: int = 10, *, lost: int = 0, errors: int = 0, skipped: int = 0, **rest: Any
) -> Found:
    planned = judged + lost + errors + skipped
    coverage = Coverage(
        planned=planned, judged=judged, skipped=skipped, agent_errors=errors, lost=lost
    )
    return Found(coverage=coverage, agent_errors=errors, **{"fails": 0, **rest})


@pytest.mark.parametrize(
    ("mode", "session", "reason", "by_items"),
    [
        pytest.param("cases", found(), None, True, id="all-pass"),
        pytest.param(
            "cases", found(fails=2), "2 cases FAIL", True, id="fails-speak-for-themselves"
        ),
        pytest.param("cases", found(lost=1), "coverage 90.9%", False, id="a-lost-case"),
        pytest.param("cases", found(errors=1), "1 case AGENT_ERROR; cov", False, id="an-error"),
        pytest.param("cases", found(0, skipped=3), None, True, id="all-skipped"),
        pytest.param("cases", found(0, errors=3), "3 cases AGENT_ERROR", False, id="all-errors"),
        pytest.param("cases", found(no_baseline=NO_BASELINE), None, True, id="needs-no-baseline"),
        pytest.param("baseline", found(), None, True, id="nothing-worse"),
        pytest.param("baseline", found(no_baseline=NO_BASELINE), NO_BASELINE, False, id="no-lock"),
        pytest.param("baseline", found(0, skipped=1), "nothing was judged", False, id="nothing"),
        pytest.param("none", found(0, lost=5, fails=1), None, False, id="none-only-measures"),
    ],
)
def test_the_gate(mode: str, session: Found, reason: str | None, by_items: bool) -> None:
    result = decide(GateMode(mode), session, min_coverage=1.0, interrupted=False)

    assert result.passed is (reason is None)
    if reason is not None:
        assert str(result.reason).startswith(reason)
        assert result.by_items is by_items


def test_coverage_may_be_lowered() -> None:
    session = found(9, lost=1)

    assert decide(GateMode.CASES, session, min_coverage=0.9, interrupted=False).passed


@pytest.mark.parametrize("mode", list(GateMode))
def test_an_interrupted_session_never_passes(mode: GateMode) -> None:
    assert not decide(mode, found(), min_coverage=0, interrupted=True).passed
