"""When a request is repeated, and after which wait."""

from __future__ import annotations

from email.utils import formatdate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fc_eval.client.retry import Hint, parse_duration, parse_hint, plan_repeat

NOW = 1_800_000_000.0


def _ago(seconds: float) -> str:
    return formatdate(NOW - seconds, usegmt=True)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        pytest.param({"retry-after": "7"}, 7, id="seconds"),
        pytest.param({"retry-after": "1.5"}, 1.5, id="decimal-seconds"),
        pytest.param({"retry-after": " 7 "}, 7, id="blanks-around-it"),
        pytest.param({"retry-after": "0"}, 0, id="nothing-to-wait-for"),
        pytest.param({"retry-after": _ago(-30)}, 30, id="a-date"),
        pytest.param({"retry-after": _ago(30)}, None, id="a-date-in-the-past"),
        pytest.param(
            {"retry-after": _ago(30), "x-ratelimit-remaining": "0", "x-ratelimit-reset": "9"},
            None,
            id="a-date-in-the-past-means-plain-backoff",
        ),
        pytest.param({"retry-after-ms": "250", "retry-after": "9"}, 0.25, id="milliseconds-first"),
        pytest.param({"retry-after-ms": "soon", "retry-after": "9"}, 9, id="else-the-next"),
        pytest.param({"retry-after": "120junk"}, None, id="junk-is-ignored"),
        pytest.param({"retry-after": "-3"}, None, id="negative-is-ignored"),
        pytest.param({"retry-after": "NaN"}, None, id="not-a-number-is-ignored"),
        pytest.param({"retry-after": "inf"}, None, id="infinity-is-ignored"),
        pytest.param({"retry-after": "1e3"}, None, id="an-exponent-is-ignored"),
        pytest.param({"retry-after": "٣"}, None, id="other-digits-are-ignored"),
        pytest.param({"retry-after": "Mon, 99 Foo"}, None, id="no-date-is-ignored"),
        pytest.param({"retry-after": "1, 2"}, None, id="two-values-are-ignored"),
        pytest.param({}, None, id="no-hint"),
        pytest.param(
            {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6m0s"},
            360,
            id="an-exhausted-dimension",
        ),
        pytest.param(
            {"x-ratelimit-remaining-requests": "5", "x-ratelimit-reset-requests": "3m"},
            None,
            id="a-dimension-with-room-does-not-count",
        ),
        pytest.param({"x-ratelimit-reset-requests": "3m"}, None, id="nor-one-that-does-not-say"),
        pytest.param(
            {
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "250ms",
                "x-ratelimit-remaining-tokens": "0",
                "x-ratelimit-reset-tokens": "2s",
            },
            2,
            id="the-largest-of-the-exhausted",
        ),
        pytest.param(
            {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(NOW) + 12)},
            12,
            id="an-epoch",
        ),
        pytest.param(
            {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(NOW - 5) * 1000)},
            None,
            id="an-epoch-in-the-past",
        ),
    ],
)
def test_hints_in_headers(headers: dict[str, str], seconds: float | None) -> None:
    hint = parse_hint(headers, None, now=NOW)

    assert (hint and hint.seconds) == seconds


def _reset(value: object, **more: object) -> dict[str, Any]:
    headers = {"X-RateLimit-Reset": value, **more}
    return {"error": {"code": 429, "message": "slow", "metadata": {"headers": headers}}}


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        pytest.param({"error": {"details": [{"retryDelay": "32s"}]}}, 32, id="retry-delay"),
        pytest.param([{"error": {"details": [{"retryDelay": "1.5s"}]}}], 1.5, id="in-a-list"),
        pytest.param(_reset(str(int(NOW + 9) * 1000)), 9, id="an-epoch-in-milliseconds"),
        pytest.param(_reset(int(NOW) + 9), 9, id="an-epoch-in-seconds"),
        pytest.param(_reset(int(NOW) - 9), None, id="an-epoch-in-the-past"),
        pytest.param(
            _reset(int(NOW) + 9, **{"X-RateLimit-Remaining": "3"}), None, id="with-room-left"
        ),
        pytest.param({"error": {"message": "try again in 1m0.3s"}}, 60.3, id="minutes-in-a-text"),
        pytest.param({"error": {"message": "Try again in 500ms."}}, 0.5, id="milliseconds"),
        pytest.param({"error": {"message": "try again in 1.2s"}}, 1.2, id="seconds"),
        pytest.param({"error": {"message": "Please retry after 20 seconds"}}, 20, id="words"),
        pytest.param({"error": {"message": "retry in 2 hours"}}, 7200, id="hours-in-words"),
        pytest.param({"error": "try again in 3s"}, 3, id="an-error-that-is-a-text"),
        pytest.param({"message": "try again in 3s"}, 3, id="without-an-envelope"),
        pytest.param("please try again in 4s", 4, id="a-body-that-is-a-text"),
        pytest.param({"error": {"message": "try again later"}}, None, id="no-number"),
        pytest.param({"error": {"message": "try again in 5"}}, None, id="no-unit"),
        pytest.param({"error": {"details": "x", "metadata": [1]}}, None, id="other-shapes"),
        pytest.param([1, [2]], None, id="no-objects"),
        pytest.param(None, None, id="nothing"),
        pytest.param(
            {"error": {"message": "try again in 3s", "details": [{"retryDelay": "5s"}]}},
            5,
            id="the-largest-counts",
        ),
    ],
)
def test_hints_in_the_body(body: object, seconds: float | None) -> None:
    hint = parse_hint({}, body, now=NOW)

    assert (hint and hint.seconds) == (seconds and pytest.approx(seconds))


@given(
    st.dictionaries(
        st.sampled_from(["retry-after", "retry-after-ms", "x-ratelimit-reset-x"]), st.text()
    ),
    st.recursive(
        st.none() | st.text() | st.integers(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["error", "details", "metadata", "headers", "message"]), inner
            )
        ),
    ),
)
def test_any_answer_gives_a_hint_or_none(headers: dict[str, str], body: object) -> None:
    hint = parse_hint({**headers, "x-ratelimit-remaining-x": "0"}, body, now=NOW)

    assert hint is None or hint.seconds >= 0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        pytest.param("1s", 1, id="seconds"),
        pytest.param("6m0s", 360, id="minutes-and-seconds"),
        pytest.param("250ms", 0.25, id="milliseconds-are-no-minutes"),
        pytest.param("1h2m", 3720, id="hours"),
        pytest.param("2m59.56s", 179.56, id="decimals"),
        pytest.param("", None, id="nothing"),
        pytest.param("5", None, id="no-unit"),
        pytest.param("5 s", None, id="a-blank-inside"),
    ],
)
def test_parse_duration(text: str, seconds: float | None) -> None:
    assert parse_duration(text) == (seconds and pytest.approx(seconds))


def _plan(number: int = 1, **changes: Any) -> Any:
    options: dict[str, Any] = {
        "retries": 3,
        "repeatable": True,
        "timed_out": False,
        "hint": None,
        "headers": {},
        "time_left_s": 600.0,
        "random": lambda: 0.5,
        **changes,
    }
    return plan_repeat(number=number, **options)


def _hint(seconds: float) -> Hint:
    return Hint(seconds=seconds, source="retry-after")


@pytest.mark.parametrize(
    ("number", "changes", "wait_s"),
    [
        pytest.param(1, {}, 0.75, id="first-repeat"),
        pytest.param(2, {}, 1.5, id="twice-as-long"),
        pytest.param(3, {}, 3.0, id="and-again"),
        pytest.param(9, {"retries": 20}, 22.5, id="at-most-thirty-seconds"),
        pytest.param(1, {"random": lambda: 0.0}, 0.5, id="at-least-half"),
        pytest.param(4, {}, None, id="four-tries-in-all"),
        pytest.param(1, {"retries": 0}, None, id="no-repeats-at-all"),
        pytest.param(1, {"timed_out": True}, 0.75, id="one-repeat-after-a-time-out"),
        pytest.param(2, {"timed_out": True}, None, id="and-no-second-one"),
        pytest.param(1, {"timed_out": True, "retries": 0}, None, id="nor-one-against-the-profile"),
        pytest.param(1, {"repeatable": False}, None, id="a-fault-that-stays"),
        pytest.param(1, {"headers": {"x-should-retry": "false"}}, None, id="the-server-says-no"),
        pytest.param(
            1,
            {"repeatable": False, "headers": {"x-should-retry": "true"}},
            None,
            id="a-yes-of-the-server-is-no-reason",
        ),
        pytest.param(1, {"hint": _hint(7)}, 7.5, id="a-hint-and-some-more"),
        pytest.param(3, {"hint": _hint(0)}, 0.5, id="a-hint-in-place-of-backoff"),
        pytest.param(1, {"hint": _hint(60)}, 60.0, id="a-minute-at-most"),
        pytest.param(1, {"hint": _hint(61)}, None, id="a-longer-hint-is-not-waited-for"),
        pytest.param(1, {"time_left_s": 0.7}, None, id="not-beyond-the-deadline"),
        pytest.param(1, {"time_left_s": 0.8}, 0.75, id="just-before-the-deadline"),
    ],
)
def test_plan_repeat(number: int, changes: dict[str, Any], wait_s: float | None) -> None:
    plan = _plan(number, **changes)

    assert plan.wait_s == wait_s
    assert plan.limited == (wait_s is None and changes.get("hint") == _hint(61))


@given(st.integers(1, 30), st.floats(0, 1), st.floats(0, 60))
def test_a_hint_is_a_lower_bound(number: int, chance: float, seconds: float) -> None:
    plan = _plan(number, retries=40, random=lambda: chance, hint=_hint(seconds))

    assert seconds <= plan.wait_s <= 60
