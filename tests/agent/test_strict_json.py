"""JSON by the letter, with the same answer on every Python."""

from __future__ import annotations

import contextlib
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fc_eval.agent.strict_json import MAX_DIGITS, JsonFault, copy_json, parse_json
from fc_eval.records.text import MAX_DEPTH

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES, st.booleans())
def test_every_json_text_is_read_as_python_reads_it(value: Any, ascii_only: bool) -> None:
    parsed = parse_json(json.dumps(value, ensure_ascii=ascii_only))

    assert parsed.value == value
    assert not parsed.repeated
    assert not parsed.conflicting


@given(VALUES)
def test_a_copy_is_equal_and_plain(value: Any) -> None:
    assert json.dumps(copy_json(value)) == json.dumps(value)


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(JsonFault):
        parse_json(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("", "not valid JSON", id="nothing"),
        pytest.param('{"a": 1,}', "not valid JSON", id="a-trailing-comma"),
        pytest.param("{'a': 1}", "not valid JSON", id="single-quotes"),
        pytest.param('{"a": 1} x', "not valid JSON", id="words-after-it"),
        pytest.param('{"a": "\n"}', "not valid JSON", id="a-raw-newline-in-a-string"),
        pytest.param('{"a": "\\x"}', "not valid JSON", id="an-escape-that-does-not-exist"),
        pytest.param('\ufeff{"a": 1}', "not valid JSON", id="a-byte-order-mark-in-text"),
        pytest.param('{"a": NaN}', "NaN is no JSON number", id="not-a-number"),
        pytest.param("-Infinity", "-Infinity is no JSON number", id="infinity"),
        pytest.param("1e999", "a number beyond the range of a double", id="too-large-a-double"),
        pytest.param(
            "1" * (MAX_DIGITS + 1), f"an integer of more than {MAX_DIGITS} digits", id="digits"
        ),
        pytest.param(
            "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1),
            f"nested deeper than {MAX_DEPTH} levels",
            id="one-level-too-deep",
        ),
        pytest.param("[" * 100_000, f"nested deeper than {MAX_DEPTH} levels", id="far-too-deep"),
        pytest.param(
            '{"a":' * 10_000 + "1" + "}" * 10_000,
            f"nested deeper than {MAX_DEPTH} levels",
            id="ten-thousand-objects",
        ),
    ],
)
def test_what_is_no_json(text: str, why: str) -> None:
    with pytest.raises(JsonFault) as caught:
        parse_json(text)

    assert str(caught.value) == why


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * MAX_DEPTH + "]" * MAX_DEPTH, id="just-deep-enough"),
        pytest.param(json.dumps("[" * 5000), id="brackets-in-a-string"),
        pytest.param(json.dumps('"' + "\\" * 7 + "[" * 500), id="brackets-after-escapes"),
        pytest.param("[" + "[]," * 5000 + "[]]", id="many-brackets-side-by-side"),
        pytest.param("1" * MAX_DIGITS, id="just-digits-enough"),
        pytest.param(" \t\r\n[1]\n", id="blanks-around-it"),
        pytest.param('"\\ud800"', id="half-a-surrogate-pair"),
    ],
)
def test_what_is_json_all_the_same(text: str) -> None:
    assert parse_json(text).value == json.loads(text)


@pytest.mark.parametrize(
    ("text", "repeated", "conflicting"),
    [
        pytest.param('{"a": 1, "b": 1}', False, False, id="keys-that-differ"),
        pytest.param('{"a": 1, "a": 1}', True, False, id="the-same-value-twice"),
        pytest.param('{"a": 1, "a": 2}', False, True, id="two-values"),
        pytest.param('{"a": 1, "a": true}', False, True, id="one-is-not-true"),
        pytest.param('{"x": [{"a": {}, "a": []}]}', False, True, id="deep-inside"),
    ],
)
def test_keys_that_stand_twice(text: str, repeated: bool, conflicting: bool) -> None:
    parsed = parse_json(text)

    assert (parsed.repeated, parsed.conflicting) == (repeated, conflicting)


def test_a_long_integer_is_exact() -> None:
    assert parse_json("2512292042121000001").value == 2512292042121000001


def test_hostile_text_costs_linear_time() -> None:
    # Quadratic, this would take minutes.
    with pytest.raises(JsonFault):
        parse_json("[" * 300 + '"' + '\\"' * 1_000_000)


@pytest.mark.parametrize(
    "value",
    [math.nan, {1}, {1: 2}, b"x", object()],
    ids=["nan", "set", "number-as-key", "bytes", "object"],
)
def test_what_is_no_json_value(value: Any) -> None:
    with pytest.raises(JsonFault):
        copy_json({"a": [value]})


def test_an_integer_that_nobody_can_write_down_is_no_json() -> None:
    with pytest.raises(JsonFault, match="digits"):
        copy_json({"n": [10**5000]})
