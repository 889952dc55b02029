from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fc_eval.errors import ArtifactError
from fc_eval.records.calls import Usage
from fc_eval.records.case import Case, Dimension
from fc_eval.records.report import ReportV1, VerdictCounts, fold_verdicts
from fc_eval.records.run import Fault, Trace
from fc_eval.records.verdict import Judgement, Verdict
from fc_eval.report.build import build_report
from fc_eval.report.inputs import hash_inputs
from tests.report.support import (
    DOMAIN,
    broken,
    failing,
    make_call,
    make_case,
    make_run,
    passing,
    skipped,
)

ONE, TWO, THREE = (make_case(f"case-{name}") for name in ("one", "two", "three"))


def report_of(cases: list[Case], traces: list[Trace], **fields: Any) -> ReportV1:
    return build_report(make_run(cases, traces, **fields), cases, DOMAIN)


def test_the_headline_counts_pass_and_fail_and_shows_the_others() -> None:
    four = make_case("case-four")
    traces = [passing("case-one"), failing("case-two"), broken("case-three"), skipped("case-four")]

    report = report_of([ONE, TWO, THREE, four], traces)

    assert report.summary.verdict_counts == VerdictCounts(PASS=1, FAIL=1, SKIP=1, AGENT_ERROR=1)
    assert (report.summary.scored_count, report.summary.accuracy) == (2, 0.5)
    assert report.coverage.planned == 4
    assert report.coverage.judged_share == pytest.approx(2 / 3)


def test_a_run_of_nothing_has_no_accuracy() -> None:
    report = report_of([ONE], [], complete=False)

    assert report.summary.accuracy is None
    assert report.statistics.accuracy.low is None
    assert (report.coverage.lost, report.results) == (1, ())


def test_every_dimension_is_there_with_its_own_score() -> None:
    chain = make_case("case-chain", dimension=Dimension.D4)

    dimensions = report_of([ONE, chain], [passing("case-one"), failing("case-chain")]).summary
    scores = {name: score.accuracy for name, score in dimensions.dimensions.items()}

    assert scores == {"D1": 1.0, "D2": None, "D3": None, "D4": 0.0}


def test_results_stand_in_the_order_of_the_selection_and_of_the_repeats() -> None:
    traces = [
        failing("case-two", 2),
        passing("case-one", 2),
        passing("case-one"),
        passing("case-two"),
    ]

    report = report_of([TWO, ONE], traces, repeats=2)

    places = [(result.case_id, result.repeat) for result in report.results]
    assert places == [("case-two", 1), ("case-two", 2), ("case-one", 1), ("case-one", 2)]


def test_a_result_keeps_what_was_asked_and_what_was_done() -> None:
    call = make_call(None, None, raw="{oops", flags=["near_miss_args"])
    trace = replace(failing("case-one"), calls=(call,), flags=("finish_mismatch",), warnings=("w",))

    (result,) = report_of([ONE], [trace]).results

    assert result.golden == ONE.to_dict()["golden"]
    assert result.actual == ({"tool": None, "arguments": None, "raw": "{oops", "error": None},)
    assert {"finish_mismatch", "near_miss_args"} <= set(result.flags)
    assert result.warnings[0] == "w"
    assert result.taxonomy == result.taxonomies[0] == "PARAM_WRONG_FORMAT"


def test_worst_tools_are_the_registered_ones_of_failed_cases_once_a_case() -> None:
    calls = (
        make_call("ask", {"key": "a"}),
        make_call("ask", {"key": "b"}, index=1),
        make_call("invented", {}, index=2, error="UNKNOWN_TOOL"),
    )
    traces = [replace(failing("case-one"), calls=calls), failing("case-two"), passing("case-three")]

    summary = report_of([ONE, TWO, THREE], traces).summary

    assert summary.worst_tools == {"find": 2, "ask": 1}
    assert [place.tool for place in summary.top_worst_tools] == ["find", "ask"]
    assert summary.taxonomy_counts == {"PARAM_WRONG_VALUE": 1, "TOOL_HALLUCINATED": 1}


def test_top_lists_have_five_places_the_most_frequent_first() -> None:
    codes = ["C1", "C2", "C2", "C3", "C4", "C5", "C6"]
    cases = [make_case(f"case-{number}") for number in range(len(codes))]
    run = make_run(cases, [passing(case.id) for case in cases])

    def judge(case: Case, trace: Trace, domain: Any) -> Judgement:
        return Judgement(verdict=Verdict.FAIL, taxonomies=(codes[cases.index(case)],))

    summary = build_report(run, cases, DOMAIN, judge=judge).summary

    assert [place.taxonomy for place in summary.top_failures] == ["C2", "C1", "C3", "C4", "C5"]
    assert len(summary.taxonomy_counts) == 6


@pytest.mark.parametrize(
    ("verdicts", "folded"),
    [
        pytest.param(["PASS", "PASS", "PASS"], Verdict.PASS, id="all-pass"),
        pytest.param(["PASS", "FAIL", "PASS"], Verdict.FAIL, id="one-fail-settles-it"),
        pytest.param(["PASS", "FAIL"], Verdict.FAIL, id="a-fail-settles-it-with-runs-missing"),
        pytest.param(["FAIL", "AGENT_ERROR", "PASS"], Verdict.AGENT_ERROR, id="not-measured"),
        pytest.param(["PASS", "PASS"], None, id="a-missing-run-leaves-it-open"),
        pytest.param(["SKIP"], Verdict.SKIP, id="skipped-once-is-skipped"),
        pytest.param([], None, id="no-run-at-all"),
    ],
)
def test_runs_of_a_case_fold_into_one_verdict(verdicts: list[str], folded: Verdict | None) -> None:
    assert fold_verdicts(map(Verdict, verdicts), runs=3) is folded


def test_repeats_count_cases_in_the_summary_and_runs_beside_it() -> None:
    traces = [
        *(passing("case-one", repeat) for repeat in (1, 2)),
        *(failing("case-two", repeat) for repeat in (1, 2)),
        passing("case-three"),
        failing("case-three", 2),
    ]

    report = report_of([ONE, TWO, THREE], traces, repeats=2)
    repeats = report.statistics.repeats

    assert report.summary.verdict_counts == VerdictCounts(PASS=1, FAIL=2)
    assert repeats is not None
    assert repeats.runs.verdict_counts == VerdictCounts(PASS=3, FAIL=3)
    assert (repeats.stable_pass, repeats.stable_fail, repeats.flaky) == (1, 1, ("case-three",))
    assert repeats.pass_at_k == pytest.approx({"1": 1 / 2, "2": 2 / 3})
    assert repeats.pass_hat_k == pytest.approx({"1": 1 / 2, "2": 1 / 3})


def test_the_interval_of_repeated_runs_is_over_cases() -> None:
    once = report_of([ONE, TWO], [passing("case-one"), failing("case-two")])
    twice = report_of(
        [ONE, TWO],
        [
            *(passing("case-one", repeat) for repeat in (1, 2)),
            *(failing("case-two", repeat) for repeat in (1, 2)),
        ],
        repeats=2,
    )

    assert twice.statistics.accuracy == once.statistics.accuracy


def test_what_is_unknown_is_null_and_never_zero() -> None:
    trace = replace(passing("case-one"), usage=None, steps=0, elapsed_ms=None)

    cost = report_of([ONE], [trace]).statistics.cost

    assert (cost.total_tokens, cost.requests, cost.seconds, cost.partial) == (
        None,
        None,
        None,
        False,
    )


def test_a_sum_that_lacks_some_runs_is_marked() -> None:
    traces = [passing("case-one"), replace(passing("case-two"), usage=Usage(total_tokens=None))]

    cost = report_of([ONE, TWO], traces).statistics.cost

    assert (cost.total_tokens, cost.requests, cost.seconds, cost.partial) == (10, 4, 1.0, True)


def test_some_runs_are_counted_apart() -> None:
    abstain = make_case("case-abstain", negative=True)
    silent = Trace(case_id="case-abstain", status=passing("x").status, flags=("text_encoded_call",))
    traces = [failing("case-one", flags=("finish_length",)), silent, broken("case-three")]
    run = make_run([ONE, abstain, THREE], traces)

    def blame(case: Case, trace: Trace, judgement: Judgement) -> Fault | None:
        return Fault.UNCLEAR if judgement.verdict is Verdict.FAIL else None

    apart = build_report(run, [ONE, abstain, THREE], DOMAIN, blame=blame).statistics.counted_apart

    assert apart.finish_length_fails == 1
    assert apart.unclear_fault_fails == 1
    assert apart.text_encoded_abstentions == 1
    assert apart.faults == {"unclear": 1}
    assert apart.agent_error_codes == {"timeout": 1}


def test_a_case_that_says_skip_needs_no_run() -> None:
    case = make_case("case-later", skip=True)

    report = report_of([ONE, case], [passing("case-one")])

    assert (report.coverage.skipped, report.coverage.lost) == (1, 0)


@pytest.mark.parametrize(
    ("cases", "traces"),
    [
        pytest.param([ONE], [passing("case-one"), passing("case-one")], id="the-same-run-twice"),
        pytest.param([ONE], [passing("case-two")], id="a-case-that-was-not-selected"),
    ],
)
def test_a_run_that_does_not_fit_its_suite_is_refused(
    cases: list[Case], traces: list[Trace]
) -> None:
    with pytest.raises(ArtifactError):
        report_of(cases, traces)


def test_a_run_of_a_case_that_the_suite_lost_is_refused() -> None:
    with pytest.raises(ArtifactError, match="case-two"):
        build_report(make_run([ONE, TWO], [passing("case-one")]), [ONE], DOMAIN)


def test_the_report_says_what_judged_it_now_and_what_was_sent_then() -> None:
    run = make_run([ONE], [passing("case-one")])
    old = replace(
        run.input_hashes, cases="old", tools="old", system_prompt="sent", judge_rules="old"
    )

    report = build_report(replace(run, input_hashes=old), [ONE], DOMAIN)

    assert report.input_hashes == replace(run.input_hashes, system_prompt="sent")


def test_a_part_of_the_suite_does_not_say_what_the_suite_is() -> None:
    run = make_run([ONE], [passing("case-one")], suite_size=2)
    run = replace(run, input_hashes=replace(run.input_hashes, cases="whole"))

    assert build_report(run, [ONE], DOMAIN).input_hashes.cases == "whole"


def test_the_same_run_gives_the_same_report() -> None:
    traces = [passing("case-one"), failing("case-two")]

    forth = report_of([ONE, TWO], traces)
    back = report_of([ONE, TWO], traces[::-1])

    assert forth == back


def test_a_report_round_trips() -> None:
    report = report_of([ONE, TWO], [passing("case-one"), failing("case-two")])

    assert ReportV1.from_dict(report.to_dict()) == report


@pytest.mark.parametrize(
    ("change", "name"),
    [
        pytest.param({"system_prompt": "Help, please."}, "system_prompt", id="the-prompt"),
        pytest.param({"link": "ticket"}, "tools", id="the-link-of-a-chain"),
        pytest.param({"known_ids": {"key": {"a"}}}, "database", id="ids-without-a-database"),
        pytest.param({"policy_digest": "p"}, "policy", id="the-policy"),
    ],
)
def test_what_verdicts_depend_on_is_hashed(change: dict[str, Any], name: str) -> None:
    before = hash_inputs([ONE], DOMAIN, "m")

    after = hash_inputs([ONE], replace(DOMAIN, **change), "m")

    assert after.differing(before) == (name,)


def test_an_input_that_is_not_there_hashes_to_null() -> None:
    hashes = hash_inputs([], replace(DOMAIN, system_prompt=""), None)

    assert hashes.cases is hashes.system_prompt is hashes.model_config is None
    assert hashes.tools is not None


def test_the_order_of_the_cases_is_part_of_the_suite() -> None:
    forth, back = hash_inputs([ONE, TWO], DOMAIN, "m"), hash_inputs([TWO, ONE], DOMAIN, "m")

    assert forth.differing(back) == ("cases",)
