from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fc_eval.bfcl.decode import DecodeError, decode_answer, decode_calls, decode_python
from fc_eval.bfcl.error_types import ErrorType


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        pytest.param('{"a": 1}', {"a": 1}, id="an-object"),
        pytest.param("{}", {}, id="an-empty-object"),
        pytest.param(' {"a": 1}\n', {"a": 1}, id="blanks-around-count-not"),
        pytest.param('{"a": 1, "a": 2}', {"a": 2}, id="the-last-of-equal-keys"),
        pytest.param('{"a": -Infinity}', {"a": float("-inf")}, id="infinity-is-read"),
    ],
)
def test_arguments_are_read_as_json(text: str, arguments: dict[str, Any]) -> None:
    assert decode_calls([{"name": "f", "arguments": text}]) == [("f", arguments)]


@pytest.mark.parametrize(
    ("arguments", "error_type"),
    [
        pytest.param("", ErrorType.DECODER_FAILED, id="nothing"),
        pytest.param('{"a": 1', ErrorType.DECODER_FAILED, id="cut-off"),
        pytest.param("{'a': 1}", ErrorType.DECODER_FAILED, id="single-quotes"),
        pytest.param("9" * 5000, ErrorType.DECODER_FAILED, id="more-digits-than-python-reads"),
        pytest.param("[" * 100_000, ErrorType.DECODER_FAILED, id="nested-too-deeply"),
        pytest.param("[]", ErrorType.WRONG_OUTPUT_FORMAT, id="a-list"),
        pytest.param("null", ErrorType.WRONG_OUTPUT_FORMAT, id="null"),
        pytest.param("5", ErrorType.WRONG_OUTPUT_FORMAT, id="a-number"),
        pytest.param('"{\\"a\\": 1}"', ErrorType.WRONG_OUTPUT_FORMAT, id="encoded-twice"),
        pytest.param([1], ErrorType.WRONG_OUTPUT_FORMAT, id="a-list-already-read"),
        pytest.param(None, ErrorType.WRONG_OUTPUT_FORMAT, id="null-already-read"),
    ],
)
def test_one_unreadable_call_spoils_the_answer(arguments: Any, error_type: ErrorType) -> None:
    calls = [{"name": "f", "arguments": {}}, {"name": "g", "arguments": arguments}]

    with pytest.raises(DecodeError) as caught:
        decode_calls(calls)
    assert caught.value.error_type is error_type


def test_text_that_is_no_json_weighs_more_than_a_value_that_is_no_object() -> None:
    with pytest.raises(DecodeError) as caught:
        decode_calls([{"name": "f", "arguments": "[]"}, {"name": "g", "arguments": "{"}])
    assert caught.value.error_type is ErrorType.DECODER_FAILED


@pytest.mark.parametrize("text", [None, ""], ids=["no-message", "an-empty-message"])
def test_an_answer_without_calls_is_a_list_of_none(text: str | None) -> None:
    assert decode_answer([], text) == []


@pytest.mark.parametrize(
    ("calls", "text"),
    [
        pytest.param([], "I can't do that.", id="a-message-instead-of-calls"),
        pytest.param(None, None, id="nothing-at-all"),
    ],
)
def test_what_is_no_list_of_calls_is_not_decoded(calls: list[Any] | None, text: str | None) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_answer(calls, text)
    assert caught.value.error_type is ErrorType.DECODER_FAILED


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        pytest.param("[f(a=1), g(b='x')]", [("f", {"a": 1}), ("g", {"b": "x"})], id="two-calls"),
        pytest.param("f(a=1)", [("f", {"a": 1})], id="missing-brackets-are-added"),
        pytest.param("```\n[f(a=1)]\n```", [("f", {"a": 1})], id="a-fence-is-dropped"),
        pytest.param("[a.b.c(x=1)]", [("a.b.c", {"x": 1})], id="a-dotted-name"),
        pytest.param("[f(1, a=2)]", [("f", {"a": 2})], id="positional-arguments-are-dropped"),
        pytest.param("[f(a=1, a=2)]", [("f", {"a": 2})], id="the-last-of-equal-keywords"),
        pytest.param("[f(**rest)]", [("f", {None: "rest"})], id="unpacking-has-no-name"),
        pytest.param("", [], id="nothing-is-no-call"),
        pytest.param("[]", [], id="an-empty-list"),
    ],
)
def test_python_text_is_read_as_calls(text: str, calls: list[Any]) -> None:
    assert decode_python(text) == calls


@pytest.mark.parametrize(
    ("source", "value"),
    [
        pytest.param("-5", -5, id="a-negative-number"),
        pytest.param("+5", -5, id="every-sign-negates"),
        pytest.param("not True", -1, id="even-not"),
        pytest.param("(1, 'a')", (1, "a"), id="a-tuple"),
        pytest.param("{'a': [1, None]}", {"a": [1, None]}, id="an-object"),
        pytest.param("metric", "metric", id="a-name-is-text"),
        pytest.param("true", "true", id="json-names-are-text"),
        pytest.param("today( )", "today()", id="a-call-without-keywords-is-text"),
        pytest.param("g(b=2)", {"g": {"b": 2}}, id="a-call-with-keywords-is-an-object"),
        pytest.param("rows[0]", "rows[0]", id="a-subscript-is-text"),
        pytest.param("...", "...", id="an-ellipsis-is-text"),
        pytest.param("2 * (3 + 4)", 14, id="arithmetic-is-worked-out"),
        pytest.param("'a' + 'b'", "ab", id="texts-are-joined"),
        pytest.param("[1] * 2", [1, 1], id="lists-are-repeated"),
        pytest.param("1 - +2", -1, id="signs-in-arithmetic-are-what-they-say"),
    ],
)
def test_python_arguments_are_read(source: str, value: Any) -> None:
    assert decode_python(f"[f(a={source})]") == [("f", {"a": value})]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("I can't do that.", id="prose"),
        pytest.param("done", id="a-word"),
        pytest.param("[[f()]]", id="a-list-of-lists"),
        pytest.param("[f(a=Color.RED)]", id="an-attribute"),
        pytest.param("[f(a=lambda: 1)]", id="a-lambda"),
        pytest.param("[f(a=f'{x}')]", id="a-format-text"),
        pytest.param("[f(a={1, 2})]", id="a-set"),
        pytest.param("[f(a={[1]: 2})]", id="a-key-that-can-be-none"),
        pytest.param("[f(a=-x)]", id="a-sign-before-a-name"),
        pytest.param("[f(a=x + 1)]", id="arithmetic-with-a-name"),
        pytest.param("[f(a=1 / 0)]", id="arithmetic-without-a-result"),
        pytest.param("[f(a=9 ** 9 ** 9)]", id="arithmetic-too-large-to-work-out"),
        pytest.param("[f(a='x' * 10 ** 9)]", id="a-text-too-long-to-build"),
        pytest.param("[f(a=__import__('os').getcwd() + '')]", id="code-is-never-run"),
        pytest.param("\x00", id="a-null-byte"),
        pytest.param("[" + "(" * 5000, id="nested-too-deeply"),
    ],
)
def test_other_text_is_not_decoded(text: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_python(text)
    assert caught.value.error_type is ErrorType.DECODER_FAILED


def test_a_stray_backslash_is_no_warning() -> None:
    assert decode_python(r"[f(a='\d')]") == [("f", {"a": "\\d"})]


@given(st.text(alphabet="fab[](){}=,.'\"1+-*:# \n\\`", max_size=40))
def test_any_text_is_decoded_or_refused(text: str) -> None:
    with suppress(DecodeError):
        assert all(isinstance(name, str) for name, _ in decode_python(text))


@given(
    st.dictionaries(
        st.from_regex("[a-z]{1,5}_", fullmatch=True),
        st.recursive(
            st.none() | st.booleans() | st.integers(0) | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
            max_leaves=5,
        ),
    )
)
def test_literals_are_read_as_they_were_written(arguments: dict[str, Any]) -> None:
    keywords = ", ".join(f"{name}={value!r}" for name, value in arguments.items())

    assert decode_python(f"[f({keywords})]") == [("f", arguments)]
