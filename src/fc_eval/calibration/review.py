"""`ReviewV1`: a human decision for each FAIL, kept while the same behaviour comes back.

A decision is keyed by the case's line and by a digest of the calls that were judged, so it holds
for every later run that does the same, and for no other. Which decisions let a baseline be locked
is asked in `fc_eval.calibration.lock`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from fc_eval.domains.protocol import DEFAULT_LINK
from fc_eval.records.baseline import Decision, ReviewCounts, ReviewEntry, ReviewV1
from fc_eval.records.calls import Call
from fc_eval.records.codec import JsonValue, digest, to_plain
from fc_eval.records.report import CaseResult, ReportV1
from fc_eval.records.run import Trace
from fc_eval.records.verdict import Verdict

Key: TypeAlias = tuple[str, str, str]
"""What a decision holds for: case id, case digest, trace digest."""


def trace_digest(trace: Trace, *, link: str = DEFAULT_LINK) -> str:
    """SHA-256 of what a trace did: tool, arguments and error code of each call, in order.

    Ids that a call's result gave out under *link* are replaced by their order wherever they come
    back as an argument, so that two runs that did the same have the same digest. Arguments that
    are no object enter as the text that came.
    """
    order = _order_of_ids(trace.calls, link)
    return digest([_behaviour(call, order) for call in trace.calls])


def _order_of_ids(calls: Iterable[Call], link: str) -> dict[str, int]:
    order: dict[str, int] = {}
    for call in calls:
        issued = call.result.get(link) if isinstance(call.result, Mapping) else None
        if isinstance(issued, str) and issued:
            order.setdefault(issued, len(order))
    return order


def _behaviour(call: Call, order: Mapping[str, int]) -> list[JsonValue]:
    arguments = call.arguments_raw if call.arguments is None else dict(call.arguments)
    error = None if call.error is None else call.error.code
    return [call.tool, _with_order(arguments, order), error]


def _with_order(value: JsonValue, order: Mapping[str, int]) -> JsonValue:
    if isinstance(value, Mapping):
        return {key: _with_order(item, order) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_order(item, order) for item in value]
    if isinstance(value, str) and value in order:
        # An object of one odd key: no argument that a model wrote looks like it by chance.
        return {"\u0000issued": order[value]}
    return value


def complete_review(
    report: ReportV1,
    review: ReviewV1 | None = None,
    *,
    instructions: Mapping[str, str] | None = None,
) -> ReviewV1:
    """The review that *report* needs: an entry for each behaviour that failed.

    Entries of *review* keep their decision and note. Those whose behaviour does not come back are
    kept too, marked stale: it may come back in the next run. New entries have no decision yet.

    Args:
        report: A judged run.
        review: The decisions that there are.
        instructions: What each case asks, by id, for the reviewer to read.

    Returns:
        Entries in the order of the report's results, then the stale ones in their old order; an
        undecided entry that is stale is dropped, there is nothing in it to keep.
    """
    old = {_key(entry): entry for entry in review.entries} if review else {}
    due: dict[Key, ReviewEntry] = {}
    for result in report.results:
        if result.verdict is Verdict.FAIL:
            entry = _entry(result, old, (instructions or {}).get(result.case_id))
            due.setdefault(_key(entry), entry)
    stale = [
        replace(entry, stale=True)
        for key, entry in old.items()
        if key not in due and entry.decision is not None
    ]
    return ReviewV1(entries=(*due.values(), *stale))


def _key(item: ReviewEntry | CaseResult) -> Key:
    return item.case_id, item.case_digest, item.trace_digest


def _entry(
    result: CaseResult, decided: Mapping[Key, ReviewEntry], instruction: str | None
) -> ReviewEntry:
    old = decided.get(_key(result))
    return ReviewEntry(
        case_id=result.case_id,
        case_digest=result.case_digest,
        instruction=instruction or (old.instruction if old else ""),
        golden=result.golden,
        trace_digest=result.trace_digest,
        decision=old.decision if old else None,
        note=old.note if old else "",
        taxonomies=result.taxonomies,
        reasons=tuple(f"{mismatch.path}: {mismatch.message}" for mismatch in result.diff),
        actual=tuple(_shown(call) for call in result.actual),
    )


def _shown(call: Mapping[str, JsonValue]) -> Mapping[str, Any]:
    return {"tool": call.get("tool"), "arguments": call.get("arguments", call.get("raw"))}


def undecided(report: ReportV1, review: ReviewV1 | None) -> tuple[ReviewEntry, ...]:
    """The entries that *report* needs and that have no decision in *review*."""
    return tuple(
        entry
        for entry in complete_review(report, review).entries
        if entry.decision is None and not entry.stale
    )


def review_summary(report: ReportV1, review: ReviewV1) -> dict[str, JsonValue]:
    """What the reviewer says of *report*'s FAILs, counted.

    Returns:
        The counts of `ReviewCounts`, and `misjudgment_rate`: misjudgments as a share of the FAILs
        that were decided, None where none was.
    """
    counts = count_review(complete_review(report, review))
    decided = counts.model_fault + counts.judge_misjudgment + counts.golden_error
    rate = counts.judge_misjudgment / decided if decided else None
    return {**to_plain(counts), "misjudgment_rate": rate}


def count_review(review: ReviewV1) -> ReviewCounts:
    """Count the entries of *review* by decision; stale ones apart."""
    live = [entry for entry in review.entries if not entry.stale]
    of = [entry.decision for entry in live]
    return ReviewCounts(
        model_fault=of.count(Decision.MODEL_FAULT),
        judge_misjudgment=of.count(Decision.JUDGE_MISJUDGMENT),
        golden_error=of.count(Decision.GOLDEN_ERROR),
        undecided=of.count(None),
        stale=len(review.entries) - len(live),
    )
