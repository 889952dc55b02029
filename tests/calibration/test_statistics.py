from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fc_eval.calibration.statistics import (
    mcnemar_exact,
    pass_at_k,
    pass_hat_k,
    smallest_detectable_change,
    wilson_interval,
)

counts = st.integers(0, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(
    ("passed", "total", "expected"),
    [
        # Newcombe, "Two-sided confidence intervals for the single proportion" (1998), table I.
        pytest.param(81, 263, (0.2553, 0.3662), id="published-81-of-263"),
        pytest.param(15, 148, (0.0624, 0.1605), id="published-15-of-148"),
        pytest.param(0, 20, (0.0, 0.1611), id="published-0-of-20"),
        pytest.param(1, 29, (0.0061, 0.1718), id="published-1-of-29"),
        pytest.param(57, 72, (0.6843, 0.8695), id="57-of-72"),
    ],
)
def test_wilson_interval(passed: int, total: int, expected: tuple[float, float]) -> None:
    assert wilson_interval(passed, total) == pytest.approx(expected, abs=5e-5)


def test_no_trial_gives_no_interval() -> None:
    assert wilson_interval(0, 0) is None


@pytest.mark.parametrize(("passed", "total"), [(-1, 3), (4, 3)])
def test_impossible_counts_are_refused(passed: int, total: int) -> None:
    with pytest.raises(ValueError, match="passed is"):
        wilson_interval(passed, total)


@given(counts.filter(lambda pair: pair[1] > 0))
def test_the_interval_holds_the_share_and_mirrors(pair: tuple[int, int]) -> None:
    passed, total = pair
    low, high = wilson_interval(passed, total) or (1.0, 0.0)
    mirrored = wilson_interval(total - passed, total) or (1.0, 0.0)

    assert 0 <= low <= passed / total <= high <= 1
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-12)


@given(st.integers(1, 60), st.integers(1, 60))
def test_more_trials_make_the_interval_narrower(passed: int, failed: int) -> None:
    total = passed + failed
    low, high = wilson_interval(passed, total) or (0.0, 1.0)
    lower, higher = wilson_interval(4 * passed, 4 * total) or (0.0, 1.0)

    assert higher - lower < high - low


@given(st.integers(0, 7), st.integers(0, 7))
def test_mcnemar_counts_all_ways_the_flips_could_have_gone(fixed: int, broken: int) -> None:
    flips = fixed + broken
    seen = abs(fixed - broken)
    ways = list(product((1, -1), repeat=flips))
    as_far = sum(abs(sum(way)) >= seen for way in ways)

    assert mcnemar_exact(fixed, broken) == pytest.approx(float(Fraction(as_far, len(ways))))


@given(st.integers(0, 2000), st.integers(0, 2000))
def test_mcnemar_does_not_care_which_way(fixed: int, broken: int) -> None:
    p = mcnemar_exact(fixed, broken)

    assert p == mcnemar_exact(broken, fixed)
    assert 0 <= p <= 1


@pytest.mark.parametrize(
    ("fixed", "broken", "p"),
    [
        pytest.param(0, 0, 1.0, id="nothing-flipped"),
        pytest.param(5, 0, 0.0625, id="five-one-way-are-not-enough"),
        pytest.param(6, 0, 0.03125, id="six-one-way-are"),
        pytest.param(10, 2, 0.03857421875, id="ten-against-two"),
    ],
)
def test_mcnemar_exact(fixed: int, broken: int, p: float) -> None:
    assert mcnemar_exact(fixed, broken) == p


def test_negative_flips_are_refused() -> None:
    with pytest.raises(ValueError, match="flips"):
        mcnemar_exact(-1, 0)


@pytest.mark.parametrize(
    ("cases", "change"),
    [
        pytest.param(72, 6 / 72, id="six-flips-of-72"),
        pytest.param(6, 1.0, id="six-cases-can-show-only-everything"),
        pytest.param(5, None, id="five-cases-can-show-nothing"),
        pytest.param(0, None, id="no-cases"),
    ],
)
def test_smallest_detectable_change(cases: int, change: float | None) -> None:
    assert smallest_detectable_change(cases) == change


runs_of_a_case = st.lists(st.booleans(), min_size=1, max_size=6)


@given(st.lists(runs_of_a_case, min_size=1, max_size=4), st.integers(1, 6))
def test_both_estimators_count_all_draws(cases: list[list[bool]], k: int) -> None:
    runs = [(len(case), sum(case)) for case in cases]
    draws = [list(combinations(case, k)) for case in cases if len(case) >= k]
    some = [sum(map(any, drawn)) / len(drawn) for drawn in draws]
    every = [sum(map(all, drawn)) / len(drawn) for drawn in draws]

    if draws:
        assert pass_at_k(runs, k) == pytest.approx(sum(some) / len(some))
        assert pass_hat_k(runs, k) == pytest.approx(sum(every) / len(every))
    else:
        assert pass_at_k(runs, k) is pass_hat_k(runs, k) is None


@given(st.lists(runs_of_a_case, min_size=1, max_size=4))
def test_for_one_draw_both_are_the_share_of_passes(cases: list[list[bool]]) -> None:
    runs = [(len(case), sum(case)) for case in cases]

    assert pass_at_k(runs, 1) == pytest.approx(pass_hat_k(runs, 1))


def test_less_than_one_draw_is_refused() -> None:
    with pytest.raises(ValueError, match="k is 0"):
        pass_at_k([(1, 1)], 0)
