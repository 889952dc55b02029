"""The best pairs of golden and actual calls when order is left aside.

Without chains this is an assignment problem. Chains make it harder, since whether a confirm is
connected depends on two pairs at once. So it is a search, in the order of "earliest", that leaves
a branch as soon as a bound shows that the best can't be in it. The bound is an assignment problem
in which only the connections that are not decided yet are counted too kindly. Calls of tools that
no chain ties together are searched apart from each other.

Some dozens of chains against some hundreds of calls can keep the search busy for ever. It ends
after a fixed amount of work, and the pairs are then taken from the bound, row by row: still the
best in all that comes before connected confirms, and no promise for the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, TypeAlias

from fc_eval.judge.align import Candidates, Pairs, Scores
from fc_eval.judge.assignment import Assignment, assign

_MOST_CELLS: Final = 1_500_000  # some seconds of work

_Links: TypeAlias = Mapping[int, AbstractSet[int | None]]
"""For golden calls, by index, the link values with which they count as connected."""


def pair_freely(candidates: Candidates, *, most_cells: int = _MOST_CELLS) -> Pairs:
    """The best pairs in any order (see `judge.align` for what is best).

    Args:
        candidates: What there is to pair.
        most_cells: Size of all assignment problems together from which on a search ends early.
            Ten golden calls against forty actual ones take some ten thousand.
    """
    scores = Scores(candidates)
    found: dict[int, int | None] = {}
    for tools in _tied_tools(candidates):
        rows = [index for index, call in enumerate(candidates.golden) if call.tool in tools]
        found |= _Search(candidates, scores, rows, most_cells).pairs()
    return tuple(found[index] for index in range(len(candidates.golden)))


def _tied_tools(candidates: Candidates) -> list[set[str]]:
    """The golden tools in groups that no chain ties to one another."""
    groups: list[set[str]] = []
    for index, call in enumerate(candidates.golden):
        owner = candidates.owners[index]
        tied = {call.tool} if owner is None else {call.tool, candidates.golden[owner].tool}
        apart = [group for group in groups if not group & tied]
        groups = [*apart, tied.union(*(group for group in groups if group & tied))]
    return groups


@dataclass(frozen=True, slots=True)
class _Way:
    """The best pairs of some rows under one way of counting connections."""

    rows: Sequence[int]
    columns: Mapping[int, int]
    solution: Assignment

    @property
    def score(self) -> int:
        return -self.solution.cost

    def at_most(self, row: int, at: int | None) -> int:
        """What can be had at most where *row* is paired with *at*, or with nothing."""
        line = self.rows.index(row)
        if at is not None:
            return self.score - self.solution.detour(line, self.columns[at])
        width = len(self.columns)
        nothing = range(width, width + len(self.rows))
        return self.score - min(self.solution.detour(line, column) for column in nothing)

    def choice(self, row: int) -> int | None:
        """The actual call that *row* has here."""
        column = self.solution.columns[self.rows.index(row)]
        return next((at for at, other in self.columns.items() if other == column), None)


@dataclass(frozen=True, slots=True)
class _Bound:
    """What can be had at most: the least that any way of counting allows."""

    ways: Sequence[_Way]

    @property
    def tightest(self) -> _Way:
        return min(self.ways, key=lambda way: way.score)

    @property
    def score(self) -> int:
        return self.tightest.score

    def at_most(self, row: int, at: int | None) -> int:
        return min(way.at_most(row, at) for way in self.ways)


class _Search:
    """The best pairs of golden calls whose tools are tied together.

    The search asks for a score: first for the best that the bound allows, then for the best that
    it came across while failing. The first pairs that reach the score are the ones to take, since
    they are tried in the order of "earliest".

    Args:
        rows: The indices of the golden calls, in order; a confirm comes after its request.
        most_cells: That of `pair_freely`.
    """

    def __init__(
        self, candidates: Candidates, scores: Scores, rows: Sequence[int], most_cells: int
    ) -> None:
        self._candidates = candidates
        self._scores = scores
        self._rows = rows
        self._allowed = {
            row: [at for at, score in enumerate(scores.pair[row]) if score is not None]
            for row in rows
        }
        self._chosen: dict[int, int | None] = {}
        self._taken: set[int] = set()
        self._missed = 0
        self._cells_left = most_cells

    def pairs(self) -> dict[int, int | None]:
        bound = self._bound(0)
        every = self._allowed
        target = bound.score
        while True:
            self._missed = 0
            # A pair that costs more than there is to spare need never be tried.
            self._allowed = {
                row: [at for at in every[row] if self._is_enough(bound.at_most(row, at), target)]
                for row in self._rows
            }
            if self._reaches(0, 0, target):
                return self._chosen
            if self._cells_left < 0:
                self._allowed = every
                return self._pairs_of_bounds()
            target = self._missed

    def _pairs_of_bounds(self) -> dict[int, int | None]:
        """Give each row, in order, the call that the bound of it and the rows after it gives it.

        A bound only errs in what is connected, so that nothing that ranks higher gets lost.
        """
        for depth, row in enumerate(self._rows):
            self._choose(row, self._bound(depth).tightest.choice(row))
        return self._chosen

    def _reaches(self, depth: int, gained: int, target: int) -> bool:
        """Whether the rows from *depth* on can be paired so that the whole reaches *target*."""
        if depth == len(self._rows):
            return self._is_enough(gained, target)
        bound = self._bound(depth)
        if not self._is_enough(gained + bound.score, target):
            return False
        row = self._rows[depth]
        failed: set[tuple[int | None, ...]] = set()
        for at in (*self._free(row), None):
            # Calls that are alike in everything but their position fail alike.
            likeness = self._likeness(at)
            if self._cells_left < 0:
                return False
            if likeness in failed or not self._is_enough(gained + bound.at_most(row, at), target):
                continue
            self._choose(row, at)
            if self._reaches(depth + 1, gained + self._gain(row, at), target):
                return True
            self._undo(row, at)
            failed.add(likeness)
        return False

    def _is_enough(self, score: int, target: int) -> bool:
        if score < target:
            self._missed = max(self._missed, score)
        return score >= target

    def _free(self, row: int) -> list[int]:
        return [at for at in self._allowed[row] if at not in self._taken]

    def _choose(self, row: int, at: int | None) -> None:
        self._chosen[row] = at
        if at is not None:
            self._taken.add(at)

    def _undo(self, row: int, at: int | None) -> None:
        del self._chosen[row]
        if at is not None:
            self._taken.remove(at)

    def _gain(self, row: int, at: int | None) -> int:
        return 0 if at is None else self._pair_gain(row, at, self._decided_links([row]))

    def _pair_gain(self, row: int, at: int, links: _Links) -> int:
        score = self._scores.pair[row][at]
        if score is None:
            raise AssertionError("calls of different tools are never paired")
        link = self._link(row, at)
        connects = link is not None and link in links.get(row, ())
        return score + self._scores.connected if connects else score

    def _link(self, row: int, at: int) -> int | None:
        """The link value by which actual call *at* is connected when it stands for *row*."""
        is_confirm = self._candidates.owners[row] is not None
        return self._candidates.used[at] if is_confirm else self._candidates.offered[at]

    def _likeness(self, at: int | None) -> tuple[int | None, ...]:
        if at is None:
            return ()
        links = (self._candidates.offered[at], self._candidates.used[at])
        return (*links, *(self._scores.pair[row][at] for row in self._rows))

    def _bound(self, depth: int) -> _Bound:
        """What the rows from *depth* on can add at most.

        A connection whose both ends are undecided is counted either for every confirm that some
        request could answer to, or for every request that some confirm could name. Neither
        counts less than can be had, so that the lower of the two is a bound.
        """
        rows = self._rows[depth:]
        free = {row: self._free(row) for row in rows}
        decided = self._decided_links(rows)
        chains = [
            (owner, row)
            for row in rows
            if (owner := self._candidates.owners[row]) is not None and owner in free
        ]
        for_confirms = {
            confirm: {self._link(request, at) for at in free[request]}
            for request, confirm in chains
        }
        ways = [self._solve(rows, free, {**decided, **for_confirms})]
        if chains:
            for_requests = {
                request: {self._link(confirm, at) for at in free[confirm]}
                for request, confirm in chains
            }
            ways.append(self._solve(rows, free, {**decided, **for_requests}))
        return _Bound(ways)

    def _decided_links(self, rows: Sequence[int]) -> _Links:
        """For confirms among *rows* whose request is paired, what that request returned."""
        links: dict[int, AbstractSet[int | None]] = {}
        for row in rows:
            owner = self._candidates.owners[row]
            request = None if owner is None else self._chosen.get(owner)
            if owner is not None and request is not None:
                links[row] = {self._link(owner, request)}
        return links

    def _solve(self, rows: Sequence[int], free: Mapping[int, Sequence[int]], links: _Links) -> _Way:
        """The best pairs where connections are counted by *links*."""
        positions = sorted({at for row in rows for at in free[row]})
        columns = {at: column for column, at in enumerate(positions)}
        costs = []
        for row in rows:
            # Every row may stay without a pair; a pair that can't be is worse than none.
            line = [1] * len(positions) + [0] * len(rows)
            for at in free[row]:
                line[columns[at]] = -self._pair_gain(row, at, links)
            costs.append(line)
        self._cells_left -= len(costs) * (len(positions) + len(rows))
        return _Way(rows, columns, assign(costs))
