"""One parameter rule after the other, on values."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fc_eval.judge.rules import Agreement, compare, equal, is_empty, is_iso8601
from fc_eval.records.case import ParamRule
from fc_eval.records.text import MAX_DEPTH

EQUAL = Agreement.EQUAL
VALUE = Agreement.OTHER_VALUE
FORMAT = Agreement.OTHER_FORMAT


def nested(levels: int, inner: Any = 1) -> Any:
    for _ in range(levels):
        inner = [inner]
    return inner


def test_long_lists_are_compared_without_trying_every_pair() -> None:
    items = [{"n": number} for number in range(30_000)]

    assert equal(items[::-1], items)
    assert not equal([*items[1:], {"n": False}], items)


@pytest.mark.parametrize(
    ("actual", "golden", "agreement"),
    [
        pytest.param("a", "a", EQUAL, id="equal-strings"),
        pytest.param("A", "a", VALUE, id="case-counts"),
        pytest.param("a ", "a", VALUE, id="blanks-count"),
        pytest.param("e\u0301", "\u00e9", VALUE, id="unicode-is-not-folded"),
        pytest.param(1, 1.0, EQUAL, id="an-integer-equals-its-float"),
        pytest.param(-0.0, 0, EQUAL, id="negative-zero-is-zero"),
        pytest.param(10**30, 1e30, VALUE, id="large-integers-are-compared-exactly"),
        pytest.param(2**53 + 1, float(2**53), VALUE, id="a-float-does-not-round-an-integer"),
        pytest.param(1234567890123456789, 1234567890123456789, EQUAL, id="nineteen-digits"),
        pytest.param(True, 1, VALUE, id="true-is-not-one"),
        pytest.param(0, False, VALUE, id="zero-is-not-false"),
        pytest.param(True, True, EQUAL, id="equal-booleans"),
        pytest.param("1", 1, VALUE, id="a-string-is-no-number"),
        pytest.param(1, "1", VALUE, id="a-number-is-no-string"),
        pytest.param(None, None, EQUAL, id="null-equals-null"),
        pytest.param(0, None, VALUE, id="zero-is-not-null"),
        pytest.param(False, None, VALUE, id="false-is-not-null"),
        pytest.param([2, 1], [1, 2], EQUAL, id="list-order-does-not-count"),
        pytest.param([1, 1, 2], [2, 1], EQUAL, id="list-duplicates-do-not-count"),
        pytest.param([1], [1, 2], VALUE, id="a-list-lacks-an-item"),
        pytest.param([1, 2, 3], [1, 2], VALUE, id="a-list-has-one-more"),
        pytest.param([], [], EQUAL, id="empty-lists"),
        pytest.param([], [1], VALUE, id="an-empty-list-against-an-item"),
        pytest.param([True], [1], VALUE, id="types-count-inside-lists"),
        pytest.param([[1, 2], [3]], [[3], [2, 1, 1]], EQUAL, id="lists-of-lists-are-sets-too"),
        pytest.param([{"a": 1}, {"a": 2}], [{"a": 2}, {"a": 1.0}], EQUAL, id="lists-of-objects"),
        pytest.param([1, True], [True, 1.0], EQUAL, id="one-and-true-side-by-side"),
        pytest.param([1, 1.0], [True], VALUE, id="numbers-against-true-in-a-list"),
        pytest.param([[]], [{}], VALUE, id="empty-kinds-differ-inside-lists"),
        pytest.param({"a": 1, "b": 2}, {"b": 2, "a": 1}, EQUAL, id="key-order-does-not-count"),
        pytest.param({"a": 1}, {"a": 1, "b": None}, VALUE, id="a-null-key-is-a-key"),
        pytest.param({"a": 1, "b": 2}, {"a": 1}, VALUE, id="an-object-has-one-more"),
        pytest.param({}, [], VALUE, id="an-object-is-no-list"),
        pytest.param("a", ["a"], VALUE, id="a-string-is-no-list"),
        pytest.param(nested(MAX_DEPTH), nested(MAX_DEPTH), EQUAL, id="as-deep-as-may-be"),
        pytest.param(nested(5000), nested(5000), FORMAT, id="deeper-agrees-with-nothing"),
    ],
)
def test_exact(actual: Any, golden: Any, agreement: Agreement) -> None:
    assert compare(ParamRule.EXACT, actual, golden) is agreement


@pytest.mark.parametrize(
    ("actual", "golden", "agreement"),
    [
        pytest.param("  RED\n", "red", EQUAL, id="case-and-outer-blanks-do-not-count"),
        pytest.param("r ed", "red", VALUE, id="inner-blanks-count"),
        pytest.param("red.", "red", VALUE, id="punctuation-counts"),
        pytest.param("\u3000红\u3000", "红", EQUAL, id="wide-blanks-are-blanks"),
        pytest.param("ＡＢ", "ab", VALUE, id="full-width-letters-are-others"),
        pytest.param("STRASSE", "straße", VALUE, id="lower-is-not-case-folding"),
        pytest.param(1, "1", VALUE, id="a-number-is-no-string"),
        pytest.param(1.0, 1, EQUAL, id="other-values-are-exact"),
        pytest.param(["B", " a"], ["a", "b"], EQUAL, id="holds-for-strings-in-a-list"),
        pytest.param({"x": {"y": "A"}, "n": 1}, {"x": {"y": "a"}, "n": 1}, EQUAL, id="and-deeper"),
        pytest.param({"X": "a"}, {"x": "a"}, VALUE, id="keys-are-exact"),
    ],
)
def test_normalized_str(actual: Any, golden: Any, agreement: Agreement) -> None:
    assert compare(ParamRule.NORMALIZED_STR, actual, golden) is agreement


@pytest.mark.parametrize(
    ("actual", "golden", "agreement"),
    [
        pytest.param("20240501", "2024-05-01", EQUAL, id="basic-equals-extended"),
        pytest.param("2024-W18-3", "2024-05-01", EQUAL, id="a-week-date-equals-its-day"),
        pytest.param("2024-05-02", "2024-05-01", VALUE, id="another-day"),
        pytest.param("2024-05-01T00:00", "2024-05-01", VALUE, id="a-datetime-is-no-date"),
        pytest.param("2024-05-01", "2024-05-01T00:00", VALUE, id="a-date-is-no-datetime"),
        pytest.param("2024-05-01", "2024-05-01T00:00Z", VALUE, id="a-date-against-an-aware-one"),
        pytest.param("2024-05-01T1030", "2024-05-01T10:30:00.0", EQUAL, id="equal-times"),
        pytest.param("2024-05-01T10:31", "2024-05-01T10:30", VALUE, id="another-minute"),
        pytest.param("2024-05-01T18:30+08:00", "2024-05-01T10:30Z", EQUAL, id="compared-in-utc"),
        pytest.param("2024-05-02T00:30+0800", "2024-05-01T16:30Z", EQUAL, id="across-midnight"),
        pytest.param("0001-01-01T00:00+08", "0001-01-01T00:00Z", VALUE, id="before-the-first-day"),
        pytest.param("2024-05-01T10:30", "2024-05-01T10:30Z", FORMAT, id="naive-against-aware"),
        pytest.param("2024-05-01T10:30Z", "2024-05-01T10:30", FORMAT, id="aware-against-naive"),
        pytest.param("May 1st, 2024", "2024-05-01", FORMAT, id="not-iso"),
        pytest.param(" 2024-05-01", "2024-05-01", FORMAT, id="blanks-are-not-iso"),
        pytest.param(20240501, "2024-05-01", FORMAT, id="a-number-is-not-iso"),
        pytest.param(None, "2024-05-01", FORMAT, id="null-is-not-iso"),
        pytest.param(["20240502", "20240501"], ["2024-05-01", "2024-05-02"], EQUAL, id="a-list"),
        pytest.param(["soon", "20240501"], ["2024-05-01"], FORMAT, id="not-iso-inside-a-list"),
        pytest.param(["20240502"], ["2024-05-01"], VALUE, id="another-day-inside-a-list"),
        pytest.param({"on": "20240501", "n": 1}, {"on": "2024-05-01", "n": 2}, VALUE, id="numbers"),
        pytest.param({"on": "soon", "n": 1}, {"on": "2024-05-01", "n": 2}, FORMAT, id="the-worst"),
        pytest.param("2024-05-01", ["2024-05-01"], VALUE, id="a-date-is-no-list"),
    ],
)
def test_normalized_date(actual: Any, golden: Any, agreement: Agreement) -> None:
    assert compare(ParamRule.NORMALIZED_DATE, actual, golden) is agreement


@pytest.mark.parametrize(
    "text",
    [
        "2024-05-01",
        "20240501",
        "2024-W18-3",
        "2024W183",
        "2024-W18",
        "2024W18",
        "2020-W53-7",
        "2024-02-29",
        "2024-05-01T10",
        "2024-05-01T10:30",
        "2024-05-01T10:30:15",
        "20240501T1030",
        "20240501T103015,5Z",
        "2024-W18-3T10:30:15.123456789-03:30",
        "2024-05-01T10:30+08",
        "2024-05-01T10:30:15+0800",
    ],
)
def test_iso8601_is_read(text: str) -> None:
    assert is_iso8601(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2024",
        "2024-05",
        "202405",
        "2024-123",
        "24-05-01",
        "2024-5-1",
        "2024-0501",
        "2024/05/01",
        "2024-02-30",
        "2023-02-29",
        "2024-W53-1",
        "2024-W18-8",
        "2024-w18-3",
        "0000-01-01",
        "+2024-05-01",
        "２０２４-05-01",
        "2024-05-01\n",
        "2024-05-01 10:30",
        "2024-05-01t10:30",
        "2024-05-01T10:30z",
        "2024-05-01T",
        "2024-05-01T1",
        "2024-05-01T103",
        "2024-05-01T10:3",
        "2024-05-01T10:3015",
        "2024-05-01T24:00",
        "2024-05-01T23:59:60",
        "2024-05-01T10:30.5",
        "2024-05-01T10:30:15.",
        "2024-05-01T10:30+24:00",
        "2024-05-01T10:30+08:60",
        "2024-05-01T10:30+8",
        "2024-05-01T10:30+08:00:01",
        "2024-W18T10:30",
        "2024-05-01Z",
        "T10:30",
    ],
)
def test_what_is_no_iso8601(text: str) -> None:
    assert not is_iso8601(text)


@pytest.mark.parametrize(
    ("actual", "golden", "agreement"),
    [
        pytest.param("the box was broken", "broken", EQUAL, id="a-part"),
        pytest.param("broken", "broken", EQUAL, id="the-whole"),
        pytest.param("Broken", "broken", VALUE, id="case-counts"),
        pytest.param("brok", "broken", VALUE, id="the-other-way-round"),
        pytest.param(["broken"], "broken", VALUE, id="a-list-is-no-string"),
        pytest.param(["a b", "c"], ["a", "b", "c"], EQUAL, id="one-text-for-two-parts"),
        pytest.param(["a b", "x"], ["a", "b"], VALUE, id="a-text-without-a-part"),
        pytest.param({"why": "it broke", "n": 1}, {"why": "broke", "n": 1.0}, EQUAL, id="objects"),
    ],
)
def test_contains(actual: Any, golden: Any, agreement: Agreement) -> None:
    assert compare(ParamRule.CONTAINS, actual, golden) is agreement


@pytest.mark.parametrize("value", [None, "", [], {}], ids=repr)
def test_any_takes_for_absent(value: Any) -> None:
    assert is_empty(value)
    assert compare(ParamRule.ANY, value, "x") is VALUE


@pytest.mark.parametrize("value", [" ", 0, 0.0, False, [None], {"a": None}, "x"], ids=repr)
def test_any_takes_for_present(value: Any) -> None:
    assert not is_empty(value)
    assert compare(ParamRule.ANY, value, "x") is EQUAL


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(value=JSON)
def test_every_value_equals_itself(value: Any) -> None:
    assert equal(value, value)


@given(one=JSON, other=JSON)
def test_equality_is_symmetric(one: Any, other: Any) -> None:
    assert equal(one, other) == equal(other, one)


@given(items=st.lists(JSON, max_size=4), random=st.randoms())
def test_a_shuffled_list_with_repeats_is_equal(items: list[Any], random: Any) -> None:
    other = items + items[:1]
    random.shuffle(other)

    assert equal(other, items)


@given(value=JSON)
def test_equal_under_exact_is_equal_under_string_rules(value: Any) -> None:
    for rule in (ParamRule.NORMALIZED_STR, ParamRule.CONTAINS):
        assert compare(rule, value, value) is EQUAL
