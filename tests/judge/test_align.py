"""The pairs that the judge keeps are the best there are, and are found in time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fc_eval.judge.align import Candidates, Pairs, find_candidates
from fc_eval.judge.assignment import assign
from fc_eval.judge.chain import connected, owners
from fc_eval.judge.check import examine
from fc_eval.judge.freely import pair_freely
from fc_eval.judge.in_order import pair_in_order
from fc_eval.records.calls import Call
from fc_eval.records.case import Golden, GoldenCall
from tests.judge.support import (
    DOMAIN,
    TOOLSET,
    golden_call,
    golden_confirm,
    made,
    make_trace,
    requested,
)


def candidates_of(golden: Sequence[GoldenCall], calls: Sequence[Call]) -> Candidates:
    examined = [examine(at, call, DOMAIN) for at, call in enumerate(make_trace(*calls).calls)]
    whole = Golden(calls=tuple(golden), order_sensitive=False)
    return find_candidates(whole.calls, examined, owners(whole, TOOLSET), DOMAIN.link)


def every_way(candidates: Candidates, *, in_order: bool) -> Iterator[Pairs]:
    def extend(pairs: Pairs) -> Iterator[Pairs]:
        index = len(pairs)
        if index == len(candidates.golden):
            yield pairs
            return
        used = [position for position in pairs if position is not None]
        for position, fields in enumerate(candidates.fields[index]):
            late_enough = not in_order or position > max(used, default=-1)
            if fields is not None and position not in used and late_enough:
                yield from extend((*pairs, position))
        yield from extend((*pairs, None))

    return extend(())


def merit(candidates: Candidates, pairs: Pairs) -> tuple[float, ...]:
    """The order of preference, word by word; larger is better."""
    made_pairs = [(index, at) for index, at in enumerate(pairs) if at is not None]
    fields = [candidates.fields[index][at] or () for index, at in made_pairs]
    calls = [examined.call for examined in candidates.calls]
    links = 0
    for index, at in made_pairs:
        owner = candidates.owners[index]
        begun = None if owner is None else pairs[owner]
        links += begun is not None and connected(calls[at], calls[begun], DOMAIN.link)
    return (
        sum(not differing for differing in fields),
        len(made_pairs),
        -sum(map(len, fields)),
        links,
        -sum(calls[at].error is not None for _, at in made_pairs),
        *(float("-inf") if at is None else -at for at in pairs),
    )


ORDER_IDS = st.sampled_from(["W1", "W2", "W9"])
ACTIONS = st.sampled_from(["a", "b", "c"])
CODES = st.sampled_from([None, None, "NOT_FOUND"])
GOLDEN = st.lists(
    st.one_of(
        st.builds(lambda order: golden_call("ship", order_id=order), ORDER_IDS),
        st.builds(lambda order: golden_call("refund", order_id=order), ORDER_IDS),
        st.just(golden_confirm()),
        st.just(golden_confirm()),
        st.builds(lambda a: golden_call("confirm", action_id=a, note=a), ACTIONS),
        st.just(golden_confirm("abort")),
        st.builds(lambda order: golden_call("get_order", order_id=order), ORDER_IDS),
    ),
    max_size=5,
)
CALLS = st.lists(
    st.one_of(
        st.builds(
            lambda tool, order, action, code: made(
                tool, returns={"action_id": action}, fails=code, order_id=order
            ),
            st.sampled_from(["ship", "refund"]),
            ORDER_IDS,
            ACTIONS,
            CODES,
        ),
        st.builds(
            lambda tool, action, code: made(tool, action_id=action, fails=code),
            st.sampled_from(["confirm", "confirm", "abort"]),
            ACTIONS,
            CODES,
        ),
        st.builds(lambda a, b: made("confirm", action_id=a, note=b), ACTIONS, ACTIONS),
        st.builds(lambda order: made("get_order", order_id=order), ORDER_IDS),
        st.builds(lambda order: made("ship", order_id=order, quantity=2), ORDER_IDS),
        st.just(made("ship", unreadable="{")),
    ),
    max_size=6,
)


@settings(max_examples=150, deadline=None)
@given(golden=GOLDEN, calls=CALLS)
def test_pairs_are_the_best_of_all_ways(golden: list[GoldenCall], calls: list[Call]) -> None:
    candidates = candidates_of(golden, calls)

    for pair, in_order in ((pair_freely, False), (pair_in_order, True)):
        best = max(every_way(candidates, in_order=in_order), key=lambda way: merit(candidates, way))
        assert pair(candidates) == best


@settings(max_examples=150, deadline=None)
@given(golden=GOLDEN, calls=CALLS)
def test_little_work_costs_no_more_than_connections(
    golden: list[GoldenCall], calls: list[Call]
) -> None:
    candidates = candidates_of(golden, calls)

    for quick, best in [
        (pair_freely(candidates, most_cells=0), pair_freely(candidates)),
        (pair_in_order(candidates, most_cells=0), pair_in_order(candidates)),
    ]:
        assert merit(candidates, quick)[:3] == merit(candidates, best)[:3]


def test_many_open_requests_come_to_an_end() -> None:
    golden = [*[golden_call("ship", order_id="W1")] * 8, *[golden_confirm()] * 8]
    calls = [
        call
        for number in range(40)
        for call in (
            requested("ship", f"a{number}", order_id="W1"),
            made("confirm", action_id=f"a{39 - number}"),
        )
    ]
    candidates = candidates_of(golden, calls)

    assert candidates.exact_pairs(pair_in_order(candidates)) == 16


@settings(max_examples=100, deadline=None)
@given(
    costs=st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.lists(st.integers(-9, 9), min_size=width, max_size=width), max_size=width
        )
    )
)
def test_an_assignment_costs_the_least(costs: list[list[int]]) -> None:
    from itertools import permutations

    solution = assign(costs)
    width = len(costs[0]) if costs else 0

    ways = list(permutations(range(width), len(costs)))
    price = {way: sum(costs[row][column] for row, column in enumerate(way)) for way in ways}
    assert solution.cost == price[solution.columns] == min(price.values())
    for way, cost in price.items():
        for row, column in enumerate(way):
            assert cost >= solution.cost + solution.detour(row, column)


CHAINS = [golden_call("ship", order_id="W1"), golden_confirm()] * 4
REQUESTS = [requested("ship", f"a{number}", order_id="W1") for number in range(90)]


@pytest.mark.parametrize("pair", [pair_freely, pair_in_order], ids=["freely", "in-order"])
@pytest.mark.parametrize(
    "named",
    [
        pytest.param([f"a{number}" for number in range(90)], id="each-confirmed-in-turn"),
        pytest.param([f"a{89 - number}" for number in range(90)], id="each-confirmed-backwards"),
        pytest.param(["a7"] * 90, id="one-confirmed-again-and-again"),
        pytest.param(["no such action"] * 90, id="none-confirmed"),
    ],
)
def test_a_long_trace_is_paired(
    named: list[str], pair: Callable[[Candidates], tuple[int | None, ...]]
) -> None:
    calls = [*REQUESTS, *(made("confirm", action_id=action) for action in named), *REQUESTS[:3]]
    candidates = candidates_of(CHAINS, calls)

    found = pair(candidates)

    taken = [position for position in found if position is not None]
    assert len(set(taken)) == len(taken)
    assert candidates.exact_pairs(found) == (8 if pair is pair_freely else 5)
