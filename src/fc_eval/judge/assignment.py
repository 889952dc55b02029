"""Give every row a column of its own so that the costs add up to the least.

The Hungarian method with potentials, in whole numbers of any size and without a dependency: a
trace has few golden calls (rows) against at most some hundred actual calls (columns).

Source: Kuhn 1955 and Munkres 1957, in the form with one shortest augmenting path for each row,
O(rows² · columns).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A cheapest assignment, and what its potentials say about every other one.

    `columns` holds the column of each row. Any assignment that gives row `i` the column `j` costs
    at least `cost + detour(i, j)`.
    """

    cost: int
    columns: tuple[int, ...]
    row_potentials: Sequence[int]
    column_potentials: Sequence[int]
    costs: Sequence[Sequence[int]]

    def detour(self, row: int, column: int) -> int:
        """The reduced cost of a cell, 0 or more."""
        return self.costs[row][column] - self.row_potentials[row] - self.column_potentials[column]


def assign(costs: Sequence[Sequence[int]]) -> Assignment:
    """Solve the assignment problem.

    Args:
        costs: One row after the other, all of one length, with at least as many columns as rows.
    """
    width = len(costs[0]) if costs else 0
    rows = [0] * len(costs)
    columns = [0] * width
    taker: list[int | None] = [None] * width
    for row in range(len(costs)):
        _augment(row, costs, rows, columns, taker)
    chosen = {row: column for column, row in enumerate(taker) if row is not None}
    return Assignment(
        cost=sum(costs[row][column] for row, column in chosen.items()),
        columns=tuple(chosen[row] for row in range(len(costs))),
        row_potentials=rows,
        column_potentials=columns,
        costs=costs,
    )


def _augment(
    start: int,
    costs: Sequence[Sequence[int]],
    rows: list[int],
    columns: list[int],
    taker: list[int | None],
) -> None:
    """Give row *start* a column, moving other rows along the cheapest path of exchanges."""
    unreached = list(range(len(columns)))
    reached: list[int] = []
    # The cheapest known way to each column, and the column before it on that way.
    distance: dict[int, int] = {}
    before: dict[int, int | None] = {}
    row: int | None = start
    column: int | None = None
    while row is not None:
        paid = rows[row]
        for candidate in unreached:
            length = costs[row][candidate] - paid - columns[candidate]
            if candidate not in distance or length < distance[candidate]:
                distance[candidate] = length
                before[candidate] = column
        column = min(unreached, key=distance.__getitem__)
        step = distance[column]
        rows[start] += step
        for done in reached:
            columns[done] -= step
            rows[_row_of(done, taker)] += step
        for candidate in unreached:
            distance[candidate] -= step
        unreached.remove(column)
        reached.append(column)
        row = taker[column]
    while column is not None:
        source = before[column]
        taker[column] = start if source is None else taker[source]
        column = source


def _row_of(column: int, taker: Sequence[int | None]) -> int:
    row = taker[column]
    if row is None:
        raise AssertionError("a column on the way is always taken")
    return row
