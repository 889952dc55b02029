"""Which golden request does a golden confirm belong to, and what ties two actual calls together?

A confirm tool resolves what a request tool asked for, one way or the other; both confirming and
aborting count as confirms. Which actual calls stand for them is asked in `judge.align`.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from fc_eval.domains.protocol import ToolKind, Toolset
from fc_eval.judge.rules import equal
from fc_eval.records.calls import Call
from fc_eval.records.case import Golden
from fc_eval.records.codec import JsonValue


def owners(golden: Golden, toolset: Toolset) -> tuple[int | None, ...]:
    """For each golden call the index of the request it belongs to, None for all but confirms.

    A confirm belongs to the nearest earlier golden request that no confirm before it belongs to,
    and to None where there is no such request.
    """
    waiting: list[int] = []
    found: list[int | None] = []
    for index, call in enumerate(golden.calls):
        kind = toolset.kind(call.tool)
        found.append(waiting.pop() if kind is ToolKind.CONFIRM and waiting else None)
        if kind is ToolKind.REQUEST:
            waiting.append(index)
    return tuple(found)


def stray_confirms(golden: Golden, toolset: Toolset) -> tuple[int, ...]:
    """The golden confirms that belong to nothing; a valid golden has none."""
    return tuple(
        index
        for index, (call, owner) in enumerate(
            zip(golden.calls, owners(golden, toolset), strict=True)
        )
        if owner is None and toolset.kind(call.tool) is ToolKind.CONFIRM
    )


def early_requests(golden: Golden, toolset: Toolset) -> tuple[int, ...]:
    """The golden requests that start before the request before them has its own confirm.

    Only a golden with confirms can have any; a valid golden has none, since else nobody could
    say which confirm is meant for which request.
    """
    kinds = [toolset.kind(call.tool) for call in golden.calls]
    if ToolKind.CONFIRM not in kinds:
        return ()
    requests = [index for index, kind in enumerate(kinds) if kind is ToolKind.REQUEST]
    resolved_at = {
        owner: index for index, owner in enumerate(owners(golden, toolset)) if owner is not None
    }
    return tuple(
        later
        for earlier, later in pairwise(requests)
        if resolved_at.get(earlier, len(kinds)) > later
    )


def offered_link(call: Call, link: str) -> JsonValue:
    """What *call* returned under the name *link*; None where it returned nothing there."""
    return call.result.get(link) if isinstance(call.result, Mapping) else None


def used_link(call: Call, link: str) -> JsonValue:
    """What *call* was given as the parameter *link*; None where it was given nothing."""
    return None if call.arguments is None else call.arguments.get(link)


def connected(confirm: Call, request: Call, link: str) -> bool:
    """Whether *confirm* names what *request* returned; who returned nothing is never named."""
    offered = offered_link(request, link)
    return offered is not None and equal(used_link(confirm, link), offered)
