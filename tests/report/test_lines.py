from __future__ import annotations

from dataclasses import replace

import pytest

from fc_eval.calibration.compare import compare_reports
from fc_eval.records.case import Dimension
from fc_eval.records.report import Estimate, ReportV1
from fc_eval.report.build import build_report
from fc_eval.report.lines import comparison_lines, headline, report_lines
from tests.report.support import DOMAIN, broken, failing, make_case, make_run, passing

CHAIN = make_case("case-chain", dimension=Dimension.D4)
ONE, TWO = make_case("case-one"), make_case("case-two")
CASES = [ONE, TWO, CHAIN]


def report_of(*verdicts: bool, run_id: str = "r1") -> ReportV1:
    traces = [
        (passing if good else failing)(case.id) for case, good in zip(CASES, verdicts, strict=False)
    ]
    run = make_run(CASES, traces, run_id=run_id, complete=len(traces) == len(CASES))
    return build_report(run, CASES, DOMAIN, blame=lambda case, trace, judgement: None)


def shown(report: ReportV1) -> str:
    return "\n".join(report_lines(report))


@pytest.mark.parametrize(
    ("passed", "scored", "line"),
    [
        pytest.param(
            57, 72, "57 of 72 cases pass (79.2 %, 95 % interval 68.4-86.9)", id="a-whole-suite"
        ),
        pytest.param(1, 1, "1 of 1 case passes (100.0 %, 95 % interval 20.7-100.0)", id="one-case"),
    ],
)
def test_headline(passed: int, scored: int, line: str) -> None:
    low, high = {57: (0.68431, 0.86948), 1: (0.20655, 1.0)}[passed]
    estimate = Estimate(passed=passed, scored=scored, value=passed / scored, low=low, high=high)

    assert headline(estimate) == line


def test_over_nothing_no_number_is_shown() -> None:
    assert shown(report_of()).startswith(
        "no case was judged\ncoverage: 3 planned, 0 judged, 0 skipped, 0 agent errors, 3 lost"
    )


def test_the_summary_of_a_run() -> None:
    assert shown(report_of(True, False, True)).splitlines() == [
        "2 of 3 cases pass (66.7 %, 95 % interval 20.8-93.9)",
        "coverage: 3 planned, 3 judged, 0 skipped, 0 agent errors, 0 lost",
        "dimension          pass  fail  skip  error  accuracy  95 % interval",
        "D1 tool selection     1     1     0      0    50.0 %       9.5-90.5",
        "D4 chain              1     0     0      0   100.0 %     20.7-100.0",
        "failures by primary code: PARAM_WRONG_VALUE 1",
        "tools in most failed cases: find 1",
        "took 6 requests, 20 tokens, 1.5 s of agent time, at least: some runs did not say",
    ]


def test_what_is_unknown_is_not_shown_as_zero() -> None:
    traces = [replace(passing(case.id), usage=None, steps=0, elapsed_ms=None) for case in CASES]

    assert "took" not in shown(build_report(make_run(CASES, traces), CASES, DOMAIN))


def test_repeats_are_shown_with_the_flaky_cases() -> None:
    traces = [
        passing("case-one"),
        failing("case-one", 2),
        passing("case-two"),
        passing("case-two", 2),
    ]
    run = make_run([ONE, TWO], traces, repeats=2)

    lines = shown(build_report(run, CASES, DOMAIN)).splitlines()

    assert lines[0] == "1 of 2 cases pass (50.0 %, 95 % interval 9.5-90.5)"
    assert (
        "2 runs a case: 3 of 4 runs pass (75.0 %), 0 agent errors; "
        "a case passes when all its runs pass"
    ) in lines
    assert "at least one of k passes (pass@k): k=1 75.0 %, k=2 100.0 %" in lines
    assert "all of k pass (pass^k): k=1 75.0 %, k=2 50.0 %" in lines
    assert "cases by their runs: 1 stable pass, 0 stable fail, 1 flaky: case-one" in lines


def test_agent_errors_are_shown_by_code() -> None:
    run = make_run([ONE, TWO], [passing("case-one"), broken("case-two", code="auth")])

    assert "agent errors by code: auth 1" in shown(build_report(run, CASES, DOMAIN))


def test_a_comparison_is_part_of_the_summary() -> None:
    report = report_of(True, False, False)
    compared = replace(
        report,
        baseline_comparison=replace(
            compare_reports(report, report_of(False, True, False, run_id="r0")), baseline_id="b1"
        ),
    )

    assert shown(compared).splitlines()[-6:] == [
        "against baseline b1 (run r0): 33.3 % now, 33.3 % there",
        "  on the 3 unchanged cases scored in both: 33.3 % now, 33.3 % there",
        "  fixed: 1: case-one",
        "  broken: 1: case-two",
        "  still failing: 1: case-chain",
        "  McNemar's exact p of the flips is 1.000; so few cases can show no change at 5 %",
    ]


def test_why_headlines_are_not_comparable_is_said_first() -> None:
    before = report_of(True, True, True)
    other = replace(before, model={"slug": "\x1b[31mlarge"})

    first, second, *_ = comparison_lines(compare_reports(before, other))

    assert "not comparable (the model is acme/small, there \\x1b[31mlarge)" in first
    assert second == "  what differs: temperature"


def test_a_comparison_over_nothing_claims_nothing() -> None:
    lines = list(comparison_lines(compare_reports(report_of(), report_of(True))))

    assert lines[-1] == "  nothing can be said of a change"


def test_nothing_that_a_server_wrote_reaches_the_terminal_as_it_is() -> None:
    run = make_run([ONE], [broken("case-one", code="\x1b[2Jboom\u202e")])

    text = shown(build_report(run, CASES, DOMAIN))

    assert text.replace("\n", "").isprintable()
    assert "\\x1b[2Jboom\\u202e 1" in text


def test_long_lists_are_cut() -> None:
    cases = [make_case(f"case-{number:02}") for number in range(12)]
    before = build_report(make_run(cases, [failing(case.id) for case in cases]), cases, DOMAIN)
    after = build_report(make_run(cases, [passing(case.id) for case in cases]), cases, DOMAIN)

    lines = list(comparison_lines(compare_reports(after, before)))

    assert any(line.endswith("case-06, case-07 and 4 more") for line in lines)
    assert lines[-1].endswith("the smallest change that 12 cases can show is 50.0 points")
