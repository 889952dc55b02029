"""How sure a share of passed cases is, and whether two shares differ by more than chance.

Textbook formulas over counts; what is counted is asked in `fc_eval.report.build` and
`fc_eval.calibration.compare`. Binomial terms are exact integers, rounded once at the end.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import comb, sqrt
from statistics import NormalDist, fmean

CONFIDENCE = 0.95
ALPHA = 0.05


def wilson_interval(
    passed: int, total: int, *, confidence: float = CONFIDENCE
) -> tuple[float, float] | None:
    """The Wilson score interval of a share; it holds near 0 and 1, where the normal one fails.

    With p = passed / total and z the normal quantile of (1 + confidence) / 2:

        (p + z²/2n ± z·sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)

    Args:
        passed: 0 to *total*.
        total: The number of independent trials; for cases, not for repeated runs of them.
        confidence: Between 0 and 1.

    Returns:
        Lower and upper bound between 0 and 1, or None where *total* is 0.

    Raises:
        ValueError: *passed* is not between 0 and *total*.

    Source:
        E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
        Journal of the American Statistical Association 22 (1927).
    """
    if not 0 <= passed <= total:
        raise ValueError(f"passed is {passed}, expected 0 to {total}")
    if total == 0:
        return None
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = passed / total
    centre = share + z * z / (2 * total)
    margin = z * sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    # At 0 and at total one bound is exact; rounding must not push it past the share.
    low = 0.0 if passed == 0 else (centre - margin) / scale
    high = 1.0 if passed == total else (centre + margin) / scale
    return low, high


def mcnemar_exact(fixed: int, broken: int) -> float:
    """The exact two-sided p-value of McNemar's test on paired verdicts.

    Only flips speak: under the null hypothesis each is as likely one way as the other, so the
    smaller count k of n flips has p = min(1, 2 · sum(C(n, i), i = 0..k) / 2^n).

    Args:
        fixed: Cases that failed before and pass now.
        broken: Cases that passed before and fail now.

    Returns:
        Between 0 and 1; 1.0 where nothing flipped.

    Raises:
        ValueError: A count is negative.

    Source:
        Q. McNemar, Psychometrika 12 (1947), with the binomial distribution in place of chi-square.
    """
    if fixed < 0 or broken < 0:
        raise ValueError(f"flips are {fixed} and {broken}, expected 0 or more")
    flips = fixed + broken
    tail, ways = 0, 1
    for i in range(min(fixed, broken) + 1):
        tail += ways
        ways = ways * (flips - i) // (i + 1)  # C(flips, i + 1)
    # An integer power of two keeps the division exact where floats would run out of range.
    return min(1.0, 2 * tail / (1 << flips))


def smallest_detectable_change(cases: int, *, alpha: float = ALPHA) -> float | None:
    """The smallest change of accuracy that *cases* paired cases can show at all.

    The clearest evidence is flips that all go one way; the fewest of them with
    `mcnemar_exact(flips, 0) < alpha`, as a share of the cases. At 5 % these are six flips.

    Returns:
        Between 0 and 1, or None where even a flip of every case would show nothing.
    """
    flips = 1
    while mcnemar_exact(flips, 0) >= alpha:
        flips += 1
    return flips / cases if cases >= flips else None


def pass_at_k(runs: Iterable[tuple[int, int]], k: int) -> float | None:
    """The chance that at least one of *k* runs of a case passes, averaged over cases.

    The unbiased estimator 1 - C(n - c, k) / C(n, k) for a case with c passes in n runs.

    Args:
        runs: For each case its scored runs n and, of these, its passes c.
        k: At least 1. Cases with fewer than *k* runs are left out.

    Returns:
        Between 0 and 1, or None where no case has *k* runs.

    Source:
        M. Chen et al., "Evaluating Large Language Models Trained on Code" (2021), section 2.1.
    """
    none_pass = _mean_draw(((n, n - c) for n, c in runs), k)
    return None if none_pass is None else 1 - none_pass


def pass_hat_k(runs: Iterable[tuple[int, int]], k: int) -> float | None:
    """The chance that all of *k* runs of a case pass, averaged over cases: pass^k.

    The unbiased estimator C(c, k) / C(n, k) for a case with c passes in n runs.

    Args:
        runs: For each case its scored runs n and, of these, its passes c.
        k: At least 1. Cases with fewer than *k* runs are left out.

    Returns:
        Between 0 and 1, or None where no case has *k* runs.

    Source:
        S. Yao et al., "τ-bench: A Benchmark for Tool-Agent-User Interaction in Real-World
        Domains" (2024), section 3.
    """
    return _mean_draw(runs, k)


def _mean_draw(counts: Iterable[tuple[int, int]], k: int) -> float | None:
    """The mean chance that *k* runs, drawn from n without replacement, all are among *of*."""
    if k < 1:
        raise ValueError(f"k is {k}, expected 1 or more")
    chances = [comb(of, k) / comb(n, k) for n, of in counts if n >= k]
    return fmean(chances) if chances else None
