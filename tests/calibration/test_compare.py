from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fc_eval.calibration.compare import (
    BaselineGate,
    Gate,
    compare_reports,
    compare_with_baseline,
)
from fc_eval.records.report import Comparison
from tests.calibration.support import locked, make_cases, report_of


def test_flips_and_both_accuracies() -> None:
    found = compare_reports(report_of("PPFF"), report_of("PFPF", run_id="r0"))

    assert (found.fixed, found.broken, found.still_failing) == (
        ("case-1",),
        ("case-2",),
        ("case-3",),
    )
    assert (found.accuracy, found.baseline_accuracy) == (0.5, 0.5)
    assert (found.comparable, found.mcnemar_p, found.smallest_change) == (True, 1.0, None)
    assert found.baseline_run_id == "r0"


def test_cases_that_came_went_and_changed_are_listed_and_make_headlines_incomparable() -> None:
    before = report_of("PPP")
    now = report_of("FPPF", cases=[*make_cases(3, changed=[0])[:2], *make_cases(5)[3:]])

    found = compare_reports(now, before)

    assert (found.changed, found.gone, found.new) == (
        ("case-0",),
        ("case-2",),
        ("case-3", "case-4"),
    )
    assert found.reasons == ("the cases differ",)
    assert found.differing_hashes == ("cases",)
    assert (found.shared, found.shared_accuracy) == (1, 1.0)


def test_a_case_that_was_not_selected_is_not_gone() -> None:
    cases = make_cases(3)
    part = report_of("P", cases=cases[:1], suite_size=3)

    found = compare_reports(part, report_of("FPP"), suite={case.id: case.digest for case in cases})

    assert (found.gone, found.new, found.fixed) == ((), (), ("case-0",))
    assert (found.shared_accuracy, found.shared_baseline_accuracy) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("now", "before", "unmeasured"),
    [
        pytest.param("PE", "PP", ("case-1",), id="an-agent-error-now"),
        pytest.param("PP", "PE", ("case-1",), id="an-agent-error-there"),
        pytest.param("P-", "PP", (), id="a-lost-case-has-no-result"),
        pytest.param("PS", "PS", (), id="skipped-in-both"),
    ],
)
def test_what_one_did_not_score_is_no_flip(
    now: str, before: str, unmeasured: tuple[str, ...]
) -> None:
    found = compare_reports(report_of(now), report_of(before))

    assert (found.unmeasured, found.shared, found.broken) == (unmeasured, 1, ())


@pytest.mark.parametrize(
    ("found", "why"),
    [
        pytest.param(
            compare_reports(report_of("PP"), report_of("PP", model={"slug": "acme/large"})),
            "the model is acme/small, there acme/large",
            id="another-model",
        ),
        pytest.param(
            compare_reports(report_of("EE"), report_of("PP")),
            "no unchanged case is scored in both",
            id="over-nothing",
        ),
        pytest.param(
            compare_reports(report_of("PP"), replace(report_of("PP"), repeats=5)),
            "the repeats are 1, there 5",
            id="other-repeats",
        ),
    ],
)
def test_why_headlines_are_not_comparable(found: Comparison, why: str) -> None:
    assert not found.comparable
    assert why in found.reasons


def test_over_nothing_no_p_value_is_claimed() -> None:
    assert compare_reports(report_of("EE"), report_of("PP")).mcnemar_p is None


def test_settings_that_differ_are_named_though_numbers_stay_comparable() -> None:
    warm = {"name": "other-name", "slug": "acme/small", "temperature": 0.7}

    found = compare_reports(report_of("PP", model=warm), report_of("PP"))

    assert (found.comparable, found.differing_settings) == (True, ("temperature",))


@given(
    st.text("PF", min_size=1, max_size=9).flatmap(
        lambda now: st.tuples(st.just(now), st.text("PF", min_size=len(now), max_size=len(now)))
    )
)
def test_a_comparison_turned_round_swaps_fixed_and_broken(pair: tuple[str, str]) -> None:
    now, before = map(report_of, pair)

    forth, back = compare_reports(now, before), compare_reports(before, now)

    assert (forth.fixed, forth.broken) == (back.broken, back.fixed)
    assert forth.mcnemar_p == back.mcnemar_p
    assert len(forth.fixed) - len(forth.broken) == pair[0].count("P") - pair[1].count("P")


@pytest.mark.parametrize(
    ("number", "gate"),
    [
        pytest.param(0, Gate.KNOWN_PASS, id="passed-there"),
        pytest.param(2, Gate.KNOWN_FAILURE, id="failed-there"),
        pytest.param(1, Gate.UNGATED, id="changed-since"),
        pytest.param(3, Gate.UNGATED, id="new"),
    ],
)
def test_what_a_baseline_says_of_a_case(number: int, gate: Gate) -> None:
    _, baseline = locked("PPF")

    assert BaselineGate(baseline).gate_of(make_cases(4, changed=[1])[number]) is gate


def test_a_comparison_with_a_baseline_names_it() -> None:
    _, baseline = locked("PPF")

    found = compare_with_baseline(report_of("PPP"), baseline)

    assert (found.baseline_id, found.fixed) == (baseline.baseline_id, ("case-2",))
