"""Which codes does a trace get, and for what?

Five steps, one function each, in the order in which their mismatches are listed: calls in another
order, fields of paired calls, calls found out of order, calls that are missing, wrong or too many,
and chains that are not connected. Within a step golden calls come first, in golden order, then
actual calls in theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from fc_eval.domains.protocol import Domain, ToolKind
from fc_eval.judge.align import Candidates, Pairs, find_candidates
from fc_eval.judge.chain import connected, offered_link, owners, used_link
from fc_eval.judge.check import ExaminedCall, call_name, describe_field, examine
from fc_eval.judge.freely import pair_freely
from fc_eval.judge.in_order import pair_in_order
from fc_eval.judge.whitelist import is_excused
from fc_eval.records.calls import Call
from fc_eval.records.case import Golden, GoldenCall
from fc_eval.records.codec import JsonValue
from fc_eval.records.text import printable, show_value
from fc_eval.records.verdict import Mismatch, Taxonomy


def rank(codes: Iterable[str]) -> tuple[str, ...]:
    """Unique codes in their order of precedence, the primary one first."""
    found = set(codes)
    return tuple(code.value for code in Taxonomy if code in found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What a trace gets: mismatches in the order of the steps, and notes for a reader."""

    mismatches: tuple[Mismatch, ...]
    warnings: tuple[str, ...]


def classify(golden: Golden, calls: Iterable[Call], domain: Domain) -> Findings:
    """Pair the calls of a trace with the golden calls, and say what is wrong with them."""
    examined = [examine(position, call, domain) for position, call in enumerate(calls)]
    owned_by = owners(golden, domain.toolset)
    candidates = find_candidates(golden.calls, examined, owned_by, domain.link)
    pairs, swapped = _pair(candidates, in_order=golden.order_sensitive)
    state = _State(
        golden=golden, domain=domain, candidates=candidates, pairs=list(pairs), swapped=swapped
    )
    mismatches = [
        *_another_order(state),
        *_paired_fields(state),
        *_out_of_order(state),
        *_unpaired(state),
    ]
    mismatches += _disconnected(state, {mismatch.path for mismatch in mismatches})
    warnings = _warnings(state, {mismatch.path for mismatch in mismatches})
    return Findings(mismatches=tuple(mismatches), warnings=tuple(warnings))


def _pair(candidates: Candidates, *, in_order: bool) -> tuple[Pairs, bool]:
    """The pairs to judge, and whether they are complete, exact and in the wrong order."""
    if not in_order:
        return pair_freely(candidates), False
    pairs = pair_in_order(candidates)
    wanted = len(candidates.golden)
    if candidates.exact_pairs(pairs) < wanted:
        free = pair_freely(candidates)
        if candidates.exact_pairs(free) == wanted:
            return free, True
    return pairs, False


@dataclass(slots=True, kw_only=True)
class _State:
    """What the steps hand on: `pairs` grows where a call is found out of order."""

    golden: Golden
    domain: Domain
    candidates: Candidates
    pairs: list[int | None]
    swapped: bool
    excused: list[ExaminedCall] = field(default_factory=list)

    def left_over(self) -> list[ExaminedCall]:
        """The actual calls without a golden call, in their order."""
        taken = set(self.pairs)
        return [call for call in self.candidates.calls if call.position not in taken]

    def unpaired(self) -> list[int]:
        """The golden calls without an actual call, in their order."""
        return [index for index, position in enumerate(self.pairs) if position is None]

    def fields_of(self, index: int, position: int) -> Iterator[Mismatch]:
        """The differing fields of golden call *index* and actual call *position*."""
        for fault in self.candidates.fields[index][position] or ():
            yield describe_field(
                _golden_path(index),
                fault,
                self.golden.calls[index],
                self.candidates.calls[position],
            )


def _another_order(state: _State) -> Iterator[Mismatch]:
    """Step 1: every golden call has its exact call, and their order is another one."""
    if not state.swapped:
        return
    positions = [position for position in state.pairs if position is not None]
    made = [state.candidates.calls[position].call for position in sorted(positions)]
    index = next(
        index for index in range(1, len(positions)) if positions[index] < positions[index - 1]
    )
    yield Mismatch(
        path="calls",
        code=Taxonomy.ORDER_WRONG.value,
        golden=[call.tool for call in state.golden.calls],
        actual=[call.tool for call in made],
        message=(
            f"{state.golden.calls[index].tool} (actual[{positions[index]}]) was called before "
            f"{state.golden.calls[index - 1].tool} (actual[{positions[index - 1]}]), "
            f"expected after it"
        ),
    )


def _paired_fields(state: _State) -> Iterator[Mismatch]:
    """Step 2: what differs between the calls of a pair."""
    for index, position in enumerate(state.pairs):
        if position is not None:
            yield from state.fields_of(index, position)


def _out_of_order(state: _State) -> Iterator[Mismatch]:
    """Step 3: the call was made, at a place where golden order leaves no pair for it."""
    for index in state.unpaired():
        golden = state.golden.calls[index]
        found = next(
            (
                examined.position
                for examined in state.left_over()
                if state.candidates.fields[index][examined.position] is not None
            ),
            None,
        )
        if found is None:
            continue
        state.pairs[index] = found
        yield Mismatch(
            path=_golden_path(index),
            code=Taxonomy.ORDER_WRONG.value,
            golden=_plain_golden(golden),
            actual=_plain_call(state.candidates.calls[found].call),
            message=f"{golden.tool} was called as actual[{found}], out of the expected order",
        )
        yield from state.fields_of(index, found)


def _unpaired(state: _State) -> Iterator[Mismatch]:
    """Step 4: golden calls that nobody made, laid against calls that nobody asked for."""
    left_over: list[ExaminedCall] = []
    for examined in state.left_over():
        (state.excused if is_excused(examined, state.golden) else left_over).append(examined)
    owned_by = state.candidates.owners
    for index in state.unpaired():
        golden = state.golden.calls[index]
        kind = _side(state.domain.toolset.kind(golden.tool))
        against = next(
            (other for other in left_over if other.tool is None or _side(other.kind) is kind), None
        )
        if against is not None:
            left_over.remove(against)
            yield _wrong_call(index, golden, against)
        else:
            owner = owned_by[index]
            chain_was_begun = owner is not None and state.pairs[owner] is not None
            yield _missing_call(index, golden, chain_was_begun=chain_was_begun)
    yield from map(_extra_call, left_over)


def _side(kind: ToolKind | None) -> ToolKind | None:
    return ToolKind.REQUEST if kind is ToolKind.WRITE else kind


def _wrong_call(index: int, golden: GoldenCall, examined: ExaminedCall) -> Mismatch:
    code = Taxonomy.TOOL_WRONG if examined.tool is not None else _code_without_tool(examined)
    name = call_name(examined.call)
    problem = {
        Taxonomy.TOOL_WRONG: f"{name} was called",
        Taxonomy.TOOL_HALLUCINATED: f"{name}, which is no tool, was called",
        Taxonomy.PARAM_WRONG_FORMAT: "a call came broken and without a name",
    }[code]
    return Mismatch(
        path=_golden_path(index),
        code=code.value,
        golden=_plain_golden(golden),
        actual=_plain_call(examined.call),
        message=f"{problem} (actual[{examined.position}]), expected {golden.tool}",
    )


def _missing_call(index: int, golden: GoldenCall, *, chain_was_begun: bool) -> Mismatch:
    code = Taxonomy.CHAIN_INCOMPLETE if chain_was_begun else Taxonomy.CALL_MISSING
    why = ", after its request was made" if chain_was_begun else ""
    return Mismatch(
        path=_golden_path(index),
        code=code.value,
        golden=_plain_golden(golden),
        message=f"{golden.tool} was never called{why}",
    )


def _extra_call(examined: ExaminedCall) -> Mismatch:
    code = Taxonomy.CALL_UNEXPECTED if examined.tool is not None else _code_without_tool(examined)
    name = call_name(examined.call)
    return Mismatch(
        path=_actual_path(examined.position),
        code=code.value,
        actual=_plain_call(examined.call),
        message={
            Taxonomy.CALL_UNEXPECTED: f"{name} was called, which nobody asked for",
            Taxonomy.TOOL_HALLUCINATED: f"{name} was called, which is no tool",
            Taxonomy.PARAM_WRONG_FORMAT: "a call came broken and without a name",
        }[code],
    )


def _code_without_tool(examined: ExaminedCall) -> Taxonomy:
    # A broken generation names no tool, so that none can be hallucinated.
    return Taxonomy.PARAM_WRONG_FORMAT if examined.nameless else Taxonomy.TOOL_HALLUCINATED


def _disconnected(state: _State, coded: set[str]) -> Iterator[Mismatch]:
    """Step 5: a confirm names something else than its request returned."""
    link = state.domain.link
    for index, owner in enumerate(state.candidates.owners):
        position = state.pairs[index]
        begun = None if owner is None else state.pairs[owner]
        if position is None or begun is None:
            continue
        confirm = state.candidates.calls[position].call
        request = state.candidates.calls[begun].call
        path = f"{_golden_path(index)}.{link}"
        if connected(confirm, request, link) or coded & {path, _golden_path(index)}:
            continue
        offered, used = offered_link(request, link), used_link(confirm, link)
        returned = "nothing" if offered is None else show_value(offered)
        yield Mismatch(
            path=path,
            code=Taxonomy.CHAIN_DISCONNECTED.value,
            golden=offered,
            actual=used,
            message=(
                f"{printable(link, 80)} is {show_value(used)}, "
                f"while {call_name(request)} returned {returned}"
            ),
        )


def _warnings(state: _State, coded: set[str]) -> Iterator[str]:
    for examined in state.excused:
        name = call_name(examined.call)
        yield f"actual[{examined.position}] {name} was ignored: a read that the case allows"
    for index, position in enumerate(state.pairs):
        if position is None:
            continue
        error = state.candidates.calls[position].call.error
        exact = state.candidates.fields[index][position] == ()
        disconnected = f"{_golden_path(index)}.{state.domain.link}" in coded
        if error is not None and exact and not disconnected:
            name = call_name(state.candidates.calls[position].call)
            yield (
                f"actual[{position}] {name} is right, and was refused all the same: "
                f"{printable(error.code, 64)}: {printable(error.message, 200)}"
            )


def _golden_path(index: int) -> str:
    return f"calls[{index}]"


def _actual_path(position: int) -> str:
    return f"actual[{position}]"


def _plain_golden(golden: GoldenCall) -> JsonValue:
    return {"tool": golden.tool, "params": dict(golden.params)}


def _plain_call(call: Call) -> JsonValue:
    arguments = call.arguments_raw if call.arguments is None else dict(call.arguments)
    return {"tool": call.tool, "arguments": arguments}
