"""Which actual call stands for which golden call?

Pairs are of one tool and one to one. Of all ways to pair, the one is taken that has, in this
order, the most exact pairs, the most pairs, the fewest differing fields, the most connected
confirms, the fewest failed calls, and the earliest calls: for golden calls in order the lowest
position, where having no pair comes last. Under golden order the pairs keep that order too.

The best way is found, never guessed: by a table in `judge.in_order`, by a search in
`judge.freely`. What makes two calls agree is asked in `judge.check`, what a pair that differs
means in `judge.taxonomy`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from fc_eval.judge.chain import offered_link, used_link
from fc_eval.judge.check import ExaminedCall, FieldFault, differing_fields
from fc_eval.judge.rules import normal_form
from fc_eval.records.case import GoldenCall
from fc_eval.records.codec import JsonValue
from fc_eval.records.text import nests_too_deep

Pairs: TypeAlias = tuple[int | None, ...]
"""For each golden call the position of its actual call, or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """All that pairing needs to know of a case and a trace.

    `fields[i][j]` holds the differing fields of golden call `i` and actual call `j`, None where
    they can't be a pair. `owners` is that of `judge.chain`. `offered` and `used` number the link
    values that actual calls returned and were given; None is a value that connects nothing.
    """

    golden: Sequence[GoldenCall]
    calls: Sequence[ExaminedCall]
    fields: Sequence[Sequence[tuple[FieldFault, ...] | None]]
    owners: Sequence[int | None]
    offered: Sequence[int | None]
    used: Sequence[int | None]

    def exact_pairs(self, pairs: Pairs) -> int:
        """How many of *pairs* differ in nothing."""
        return sum(
            position is not None and self.fields[index][position] == ()
            for index, position in enumerate(pairs)
        )


def find_candidates(
    golden: Sequence[GoldenCall],
    calls: Sequence[ExaminedCall],
    owners: Sequence[int | None],
    link: str,
) -> Candidates:
    """Compare every golden call with every actual call of its tool.

    Args:
        golden: The golden calls.
        calls: The actual calls, by position.
        owners: For each golden call the request it belongs to (see `judge.chain.owners`).
        link: The parameter that ties a confirm to its request.
    """
    numbers = _LinkNumbers()
    return Candidates(
        golden=golden,
        calls=calls,
        fields=[
            [
                differing_fields(wanted, examined)
                # A tool that does not exist is hallucinated, whoever names it.
                if examined.tool is not None and examined.tool.name == wanted.tool
                else None
                for examined in calls
            ]
            for wanted in golden
        ],
        owners=owners,
        offered=[numbers.of(offered_link(examined.call, link)) for examined in calls],
        used=[numbers.of(used_link(examined.call, link)) for examined in calls],
    )


class _LinkNumbers:
    """Gives equal link values the same number."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def of(self, value: JsonValue) -> int | None:
        # What is nested too deep to be compared equals nothing.
        if value is None or nests_too_deep(value):
            return None
        return self._numbers.setdefault(normal_form(value), len(self._numbers))


class Scores:
    """The order of preference, but for "earliest", as one whole number to be made large.

    It is a sum over the pairs, `pair[i][j]` for golden call `i` and actual call `j` (None where
    they can't be a pair), and of `connected` for each confirm that is connected. One step of a
    higher rank outweighs everything that the lower ranks can add up to; every pair is better than
    none. `confirm_of` is the inverse of the candidates' `owners`.
    """

    def __init__(self, candidates: Candidates) -> None:
        count = len(candidates.golden)
        most_fields = sum(
            max((len(fields) for fields in row if fields is not None), default=0)
            for row in candidates.fields
        )
        self.connected = count + 1
        self._field = self.connected * (count + 1)
        self._pair = self._field * (most_fields + 1)
        self._exact = self._pair * (count + 1)
        self.pair = [
            [
                None if fields is None else self._of_pair(fields, examined)
                for fields, examined in zip(row, candidates.calls, strict=True)
            ]
            for row in candidates.fields
        ]
        self.confirm_of = {
            owner: index for index, owner in enumerate(candidates.owners) if owner is not None
        }

    def _of_pair(self, fields: tuple[FieldFault, ...], examined: ExaminedCall) -> int:
        exact = 0 if fields else self._exact
        failed = 0 if examined.call.error is None else 1
        return exact + self._pair - len(fields) * self._field - failed
