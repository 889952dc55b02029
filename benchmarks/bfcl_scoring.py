"""How many answers are decoded and checked a second, ours and officially, side by side.

    FC_BFCL_DATA=... python -m benchmarks.bfcl_scoring [--rounds N] [--seed N]

Both sides judge the same answers, as they come over a tools API, in one process: right ones of all
labelled subsets, and ones that something happened to. The rounds of the two sides alternate, so
that a busy machine slows both; the best round of each side counts. A diff is made only when it is
asked for, and is not part of it. Exit code 1 where the verdicts differ.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from fc_eval.bfcl.entries import SUBSETS, BfclEntry, load_entries
from fc_eval.bfcl.score import score
from tests.bfcl.mutations import broken_tool_calls, mutate, right_calls, tool_calls
from tests.bfcl.official import Official, as_result, find_official, load_official

Answer = tuple[BfclEntry, list[dict[str, Any]], list[dict[str, Any]]]
"""An entry, its answer for ours, and the same answer in the official shape."""


def main() -> int:
    """Run both sides and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    place = find_official()
    if place is None:
        print("the official BFCL code is not here: pytest --fc-bfcl-fetch, or FC_BFCL_DATA")
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        official = load_official(place, Path(scratch))
        rng = random.Random(options.seed)
        entries = [
            entry
            for subset in SUBSETS.values()
            if subset.labelled
            for entry in load_entries(subset.name)
        ]
        alike = True
        print(f"{'answers':<10}{'count':>8}{'ours/s':>12}{'official/s':>12}{'ratio':>8}")
        for kind, make in (("right", _right), ("changed", _changed)):
            answers = [
                (entry, sent, as_result(sent)) for entry in entries for sent in [make(entry, rng)]
            ]
            alike &= _compare(kind, official, answers, options.rounds)
    return 0 if alike else 1


def _right(entry: BfclEntry, rng: random.Random) -> list[dict[str, Any]]:
    return tool_calls(right_calls(entry, rng))


def _changed(entry: BfclEntry, rng: random.Random) -> list[dict[str, Any]]:
    return broken_tool_calls(mutate(entry, right_calls(entry, rng), rng), rng)


def _compare(kind: str, official: Official, answers: Sequence[Answer], rounds: int) -> bool:
    def ours() -> list[bool]:
        return [score(entry, sent).valid for entry, sent, _ in answers]

    def theirs() -> list[bool]:
        return [official.judge_tools(entry, result)[0] for entry, _, result in answers]

    verdicts = ours(), theirs()
    best = [float("inf"), float("inf")]
    for _ in range(rounds):
        for side, run in enumerate((ours, theirs)):
            best[side] = min(best[side], _seconds(run))
    rates = [len(answers) / seconds for seconds in best]
    ratio = rates[0] / rates[1]
    print(f"{kind:<10}{len(answers):>8}{rates[0]:>12,.0f}{rates[1]:>12,.0f}{ratio:>8.2f}")
    return verdicts[0] == verdicts[1]


def _seconds(run: Callable[[], object]) -> float:
    started = perf_counter()
    run()
    return perf_counter() - started


if __name__ == "__main__":
    sys.exit(main())
