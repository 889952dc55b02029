from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fc_eval.calibration.review import complete_review, count_review, trace_digest, undecided
from fc_eval.records.baseline import Decision, ReviewCounts, ReviewV1
from fc_eval.records.calls import Call
from fc_eval.records.run import Trace
from tests.calibration.support import decided, report_of
from tests.report.support import failing, make_call


def chain(action: str, *, confirms: str | None = None, error: str | None = None) -> Trace:
    """Ask, get *action* as the id, settle *confirms*."""
    calls = (
        make_call("ask", {"key": "a"}, result={"action_id": action, "status": "pending"}),
        make_call("settle", {"action_id": confirms or action}, index=1, error=error),
    )
    return replace(failing("case-0"), calls=calls)


def with_call(*args: Any, **kwargs: Any) -> Trace:
    return replace(failing("case-0"), calls=(make_call(*args, **kwargs),))


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        pytest.param(chain("x1"), chain("y2"), True, id="ids-count-by-their-order"),
        pytest.param(chain("x1"), chain("y2", confirms="x1"), False, id="another-id-is-no-order"),
        pytest.param(
            chain("x1"), chain("x1", error="UNKNOWN_ACTION"), False, id="an-error-is-behaviour"
        ),
        pytest.param(
            with_call("find", {"key": "a"}, result={"n": 1}),
            with_call("find", {"key": "a"}, result={"n": 2}),
            True,
            id="what-came-back-is-not",
        ),
        pytest.param(
            with_call("find", {"key": "a"}), with_call("find", {"key": "b"}), False, id="arguments"
        ),
        pytest.param(
            with_call("find", None, raw="{"), with_call("find", None, raw="["), False, id="raw-text"
        ),
        pytest.param(with_call("find", {}), with_call("find", None), False, id="empty-and-broken"),
        pytest.param(
            replace(failing("case-0"), final_text="a"),
            replace(failing("case-0", 2), final_text="b", elapsed_ms=1.0, flags=("refusal",)),
            True,
            id="text-time-and-flags-are-not",
        ),
    ],
)
def test_what_makes_two_traces_the_same_behaviour(left: Trace, right: Trace, same: bool) -> None:
    assert (trace_digest(left) == trace_digest(right)) is same


def test_an_id_is_recognised_at_any_depth_and_under_the_domains_own_name() -> None:
    def trace(ticket: str) -> Trace:
        calls: tuple[Call, ...] = (
            make_call("ask", {}, result={"ticket": ticket}),
            make_call("settle", {"of": [{"ticket": ticket}]}, index=1),
        )
        return replace(failing("case-0"), calls=calls)

    assert trace_digest(trace("x"), link="ticket") == trace_digest(trace("y"), link="ticket")
    assert trace_digest(trace("x")) != trace_digest(trace("y"))


def test_a_review_has_an_entry_for_each_failed_behaviour() -> None:
    review = complete_review(report_of("PFEF"))

    assert [entry.case_id for entry in review.entries] == ["case-1", "case-3"]
    assert all(entry.decision is None and entry.reasons for entry in review.entries)


def test_decisions_are_kept_while_the_behaviour_comes_back() -> None:
    report = report_of("PFF")
    review = decided(report, Decision.GOLDEN_ERROR)

    assert complete_review(report, review) == review


def test_a_decision_on_what_does_not_come_back_is_stale_and_holds_again_later() -> None:
    before, after = report_of("FF"), report_of("PF")
    review = decided(before)

    later = complete_review(after, review)

    assert [(entry.case_id, entry.stale) for entry in later.entries] == [
        ("case-1", False),
        ("case-0", True),
    ]
    assert complete_review(before, later) == review


def test_an_undecided_entry_that_is_stale_has_nothing_to_keep() -> None:
    assert complete_review(report_of("PP"), complete_review(report_of("FP"))) == ReviewV1()


def test_other_behaviour_of_the_same_case_needs_its_own_decision() -> None:
    report = report_of("F")
    other = replace(report.results[0], trace_digest="other")

    missing = undecided(replace(report, results=(other,)), decided(report))

    assert [entry.trace_digest for entry in missing] == ["other"]


def test_counts_leave_stale_entries_apart() -> None:
    entries = complete_review(report_of("FFFF")).entries
    review = ReviewV1(
        entries=(
            replace(entries[0], decision=Decision.MODEL_FAULT),
            replace(entries[1], decision=Decision.GOLDEN_ERROR),
            replace(entries[2], decision=Decision.MODEL_FAULT, stale=True),
            entries[3],
        )
    )

    assert count_review(review) == ReviewCounts(
        model_fault=1, judge_misjudgment=0, golden_error=1, undecided=1, stale=1
    )
