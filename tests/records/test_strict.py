"""Strict JSON: what two readers could read differently is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fc_eval.records.strict import StrictJsonError, parse_strict

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param('{"a": 1, "a": 1}', "'a' stands twice", id="equal-keys"),
        pytest.param('[{"b": {"a": 1, "a": 2}}]', "'a' stands twice", id="equal-keys-at-any-depth"),
        pytest.param("NaN", "no JSON number", id="not-a-number"),
        pytest.param("[-Infinity]", "no JSON number", id="infinity-by-name"),
        pytest.param("1e999", "too large", id="infinity-by-size"),
        pytest.param('"\\ud800"', "surrogate", id="half-a-surrogate-pair"),
        pytest.param('{"\\uDFFF": 1}', "surrogate", id="half-a-surrogate-pair-in-a-key"),
        pytest.param("9" * 5000, "digits", id="an-integer-of-thousands-of-digits"),
        pytest.param("[" * 100_000, "deep", id="a-nesting-that-nobody-meant"),
        pytest.param("[" * 102 + "]" * 102, "deep", id="a-nesting-of-a-level-too-many"),
        pytest.param("{} {}", "Extra data", id="two-values"),
        pytest.param("", "Expecting value", id="nothing"),
    ],
)
def test_a_text_that_is_no_strict_json_is_refused(text: str, problem: str) -> None:
    with pytest.raises(StrictJsonError, match=problem):
        parse_strict(text)


def test_the_line_of_a_syntax_error_is_named() -> None:
    with pytest.raises(StrictJsonError) as caught:
        parse_strict('{\n  "a": 1,\n  oops\n}')

    assert caught.value.line == 3


def test_a_whole_surrogate_pair_is_a_character() -> None:
    assert parse_strict('"\\ud83d\\ude00"') == "😀"


@given(JSON)
def test_all_other_json_is_read_as_it_is_written(value: object) -> None:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False)):
        assert parse_strict(text) == value


def test_a_hundred_levels_are_fine_beside_many_values() -> None:
    deep = "[" * 100 + "1" + "]" * 100

    assert parse_strict(f"[{deep[1:-1]}, {[[]] * 200}]")
