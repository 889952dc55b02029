from __future__ import annotations

from dataclasses import replace

import pytest

from fc_eval.calibration.consistency import build_consistency
from fc_eval.errors import RefusedError
from fc_eval.records.baseline import ConsistencyLimits
from fc_eval.records.report import ReportV1
from tests.calibration.support import make_cases, report_of


def runs(*verdicts: str) -> list[ReportV1]:
    return [report_of(text, run_id=f"r{number}") for number, text in enumerate(verdicts)]


@pytest.mark.parametrize(
    ("verdicts", "unstable", "spread", "passed"),
    [
        pytest.param(["PPF"] * 3, 0, 0, True, id="agreement"),
        pytest.param(
            ["P" * 20, "P" * 20, "P" * 19 + "F"], 1 / 20, 1 / 20, True, id="at-both-limits"
        ),
        pytest.param(["PF" * 10, "FP" * 10, "PF" * 10], 1, 0, False, id="unstable-with-no-spread"),
        pytest.param(["PPP", "PPP", "PPF", "PPP"], 1 / 3, 1 / 3, False, id="four-runs"),
        pytest.param(["PSP"] * 3, 0, 0, True, id="a-case-that-all-skip-does-not-count"),
    ],
)
def test_how_far_runs_agree(
    verdicts: list[str], unstable: float, spread: float, passed: bool
) -> None:
    found = build_consistency(runs(*verdicts))

    assert found.unstable_share == pytest.approx(unstable)
    assert found.spread == pytest.approx(spread)
    assert found.passed is passed
    assert [run.run_id for run in found.runs] == [f"r{n}" for n in range(len(verdicts))]


def test_limits_are_inclusive_and_of_the_projects_choice() -> None:
    limits = ConsistencyLimits(max_unstable=1 / 3, max_spread=1 / 3)

    assert build_consistency(runs("PPP", "PPP", "PPF"), limits=limits).passed


def test_each_case_has_its_verdicts_in_the_order_of_the_runs() -> None:
    found = build_consistency(runs("PF", "PP", "PF"))

    assert [case.stable for case in found.cases] == [True, False]
    assert found.cases[1].verdicts == ("FAIL", "PASS", "FAIL")


@pytest.mark.parametrize(
    ("reports", "why"),
    [
        pytest.param(runs("PP", "PP"), "3 are needed", id="two-runs"),
        pytest.param([report_of("PP")] * 3, "named twice", id="one-run-three-times"),
        pytest.param(runs("PP", "PE", "PP"), "1 AGENT_ERROR", id="an-agent-error"),
        pytest.param(runs("PP", "P-", "PP"), "is partial", id="a-lost-case"),
        pytest.param(
            [replace(report, suite_size=9) for report in runs("PP", "PP", "PP")],
            "selected 2 of 9",
            id="a-selection",
        ),
        pytest.param(
            [*runs("PP", "PP"), report_of("PP", run_id="x", model={"slug": "acme/large"})],
            "acme/large",
            id="another-model",
        ),
        pytest.param(
            [*runs("PP", "PP"), report_of("PP", run_id="x", cases=make_cases(2, changed=[0]))],
            "other inputs than the first: cases",
            id="other-cases",
        ),
        pytest.param(runs("SS", "SS", "SS"), "no judged case", id="nothing-judged"),
    ],
)
def test_runs_that_say_nothing_are_refused_with_the_reason(
    reports: list[ReportV1], why: str
) -> None:
    with pytest.raises(RefusedError, match=why):
        build_consistency(reports)


def test_all_reasons_are_named_at_once() -> None:
    with pytest.raises(RefusedError) as caught:
        build_consistency(runs("PE", "P-"))

    assert all(why in str(caught.value) for why in ("are needed", "AGENT_ERROR", "partial"))
