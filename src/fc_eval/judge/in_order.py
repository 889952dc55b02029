"""The best pairs of golden and actual calls that keep golden order.

A table holds the best score for every golden call, every first actual call that it may have, and
what the requests that still wait for their confirm returned. Where each request gets its confirm
before the next one starts, as in every valid case, that is one returned value at a time, and the
work grows with golden calls · actual calls · returned values.
"""

from __future__ import annotations

from functools import cache
from typing import TypeAlias

from fc_eval.judge.align import Candidates, Pairs, Scores


def pair_in_order(candidates: Candidates) -> Pairs:
    """The best pairs in golden order (see `judge.align` for what is best)."""
    return _Table(candidates).pairs()


_OpenRequests: TypeAlias = tuple[tuple[int, int], ...]
"""Golden requests whose confirm is still to come, each with the number of what it returned."""


class _Table:
    """The best scores from each point on, and the way through them."""

    def __init__(self, candidates: Candidates) -> None:
        self._candidates = candidates
        self._scores = Scores(candidates)
        self._size = len(self._candidates.calls)
        self._used = set(self._candidates.used)
        self._best_from = cache(self._compute_best_from)

    def pairs(self) -> Pairs:
        found: list[int | None] = []
        start = 0
        still_open: _OpenRequests = ()
        for index in range(len(self._candidates.golden)):
            best = self._best_from(index, still_open)[start]
            position = next(
                (
                    position
                    for position in range(start, self._size)
                    if self._with(index, position, still_open) == best
                ),
                None,
            )
            found.append(position)
            still_open = self._after(index, position, still_open)
            start = start if position is None else position + 1
        return tuple(found)

    def _compute_best_from(self, index: int, still_open: _OpenRequests) -> list[int]:
        """The best score of golden calls from *index* on, for each first position allowed."""
        if index == len(self._candidates.golden):
            return [0] * (self._size + 1)
        best = list(self._best_from(index + 1, self._after(index, None, still_open)))
        paired: int | None = None
        for position in reversed(range(self._size)):
            score = self._with(index, position, still_open)
            if score is not None and (paired is None or score > paired):
                paired = score
            if paired is not None and paired > best[position]:
                best[position] = paired
        return best

    def _with(self, index: int, position: int, still_open: _OpenRequests) -> int | None:
        """The best score from *index* on where its pair is *position*; None if it can't be."""
        score = self._scores.pair[index][position]
        if score is None:
            return None
        offered = dict(still_open).get(self._owner(index))
        if offered is not None and offered == self._candidates.used[position]:
            score += self._scores.connected
        after = self._after(index, position, still_open)
        return score + self._best_from(index + 1, after)[position + 1]

    def _after(self, index: int, position: int | None, still_open: _OpenRequests) -> _OpenRequests:
        owner = self._owner(index)
        kept = tuple(entry for entry in still_open if entry[0] != owner)
        if position is None or index not in self._scores.confirm_of:
            return kept
        offered = self._candidates.offered[position]
        # What no call was ever given is as good as nothing, and keeps the table small.
        if offered is None or offered not in self._used:
            return kept
        return (*kept, (index, offered))

    def _owner(self, index: int) -> int:
        owner = self._candidates.owners[index]
        return -1 if owner is None else owner
