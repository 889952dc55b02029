"""The best pairs of golden and actual calls that keep golden order.

A table holds the best score for every golden call, every first actual call that it may have, and
what the requests that still wait for their confirm returned. Where each request gets its confirm
before the next one starts, as in every valid case, that is one returned value at a time, and the
work grows with golden calls · actual calls · returned values. Where many wait at once, only the
latest are told apart, so that the table stays small: which of several equally good pairs are
connected is then found for those alone.
"""

from __future__ import annotations

from functools import cache
from typing import Final, TypeAlias

from fc_eval.judge.align import Candidates, Pairs, Scores

_MOST_CELLS: Final = 1_000_000  # about a second of work


def pair_in_order(candidates: Candidates, *, most_cells: int = _MOST_CELLS) -> Pairs:
    """The best pairs in golden order (see `judge.align` for what is best).

    Args:
        candidates: What there is to pair.
        most_cells: Size of the table from which on not every open request is told apart: golden
            calls · actual calls · combinations of returned values. One of them always is.
    """
    return _Table(candidates, most_cells).pairs()


_OpenRequests: TypeAlias = tuple[tuple[int, int], ...]
"""Golden requests whose confirm is still to come, each with the number of what it returned."""


class _Table:
    """The best scores from each point on, and the way through them."""

    def __init__(self, candidates: Candidates, most_cells: int) -> None:
        self._candidates = candidates
        self._scores = Scores(candidates)
        self._size = len(self._candidates.calls)
        # What no call was ever given is as good as nothing, and keeps the table small.
        self._known = set(candidates.used) & set(candidates.offered) - {None}
        values = len(self._known) + 1
        cells = len(candidates.golden) * self._size * values
        self._most_open = 1
        while self._most_open < len(candidates.golden) and cells * values <= most_cells:
            cells *= values
            self._most_open += 1
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
        if offered is None or offered not in self._known:
            return kept
        return (*kept, (index, offered))[-self._most_open :]

    def _owner(self, index: int) -> int:
        owner = self._candidates.owners[index]
        return -1 if owner is None else owner
