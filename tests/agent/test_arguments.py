"""What stands in the place of arguments: read by the letter, never repaired."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fc_eval.agent.arguments import is_cut, read_arguments
from fc_eval.records.flags import Flag


@pytest.mark.parametrize(
    ("value", "arguments", "raw", "flags"),
    [
        pytest.param('{"a": 1}', {"a": 1}, None, (), id="a-plain-text-is-not-repeated"),
        pytest.param('{"a":1}', {"a": 1}, None, (), id="without-blanks-it-is-plain-too"),
        pytest.param('{"b": 1, "a": 2}', {"b": 1, "a": 2}, None, (), id="in-the-order-of-its-keys"),
        pytest.param('{"a": "\\u00e9"}', {"a": "é"}, None, (), id="escaped-it-is-plain-too"),
        pytest.param('{ "a":1 }', {"a": 1}, '{ "a":1 }', (), id="an-odd-text-is-kept"),
        pytest.param('{"a": 1e2}', {"a": 100.0}, '{"a": 1e2}', (), id="an-odd-number-is-kept"),
        pytest.param(None, {}, None, (Flag.ARGS_EMPTY,), id="nothing"),
        pytest.param("", {}, "", (Flag.ARGS_EMPTY,), id="an-empty-text"),
        pytest.param(" \n", {}, " \n", (Flag.ARGS_EMPTY,), id="a-blank-text"),
        pytest.param({"a": 1}, {"a": 1}, None, (Flag.ARGS_NOT_STRING,), id="an-object"),
        pytest.param(
            '{"a": 1, "a": 1}', {"a": 1}, '{"a": 1, "a": 1}', (Flag.DUPLICATE_KEYS,), id="twice"
        ),
    ],
)
def test_arguments_that_can_be_read(
    value: Any, arguments: Any, raw: str | None, flags: tuple[str, ...]
) -> None:
    read = read_arguments(value)

    assert (read.arguments, read.arguments_raw, read.flags) == (arguments, raw, flags)
    assert read.parse_error is None


NEAR = (Flag.NEAR_MISS_ARGS,)


@pytest.mark.parametrize(
    ("value", "flags"),
    [
        pytest.param('{"a": 1,}', NEAR, id="a-trailing-comma"),
        pytest.param("{'a': 'x'}", NEAR, id="single-quotes"),
        pytest.param('{"a": True, "b": None}', NEAR, id="words-of-python"),
        pytest.param('{a: "x"}', NEAR, id="keys-without-quotes"),
        pytest.param('```json\n{"a": 1}\n```', NEAR, id="a-fence"),
        pytest.param('{"a": 1} Here you are.', NEAR, id="words-after-it"),
        pytest.param('{}""', NEAR, id="stray-quotes"),
        pytest.param('{"a": 1}<|im_end|>', NEAR, id="a-token-of-the-template"),
        pytest.param('{"a": 1}</tool_call>', NEAR, id="a-tag-of-the-template"),
        pytest.param('{"a": "x\ny"}', NEAR, id="a-raw-newline"),
        pytest.param('{"a": NaN}', NEAR, id="not-a-number"),
        pytest.param("｛“a”：1｝", NEAR, id="full-width-and-curly-punctuation"),
        pytest.param('["x"]', NEAR, id="a-list"),
        pytest.param('"{\\"a\\": 1}"', (*NEAR, Flag.DOUBLE_ENCODED), id="json-inside-json"),
        pytest.param('{"a": 1}{"a": 2}', (Flag.CONCATENATED_ARGS,), id="two-objects"),
        pytest.param('{"a": 1, "a": 2}', (Flag.DUPLICATE_KEYS,), id="a-key-with-two-values"),
        pytest.param('{"a": 1', (), id="cut-off"),
        pytest.param("W441", (), id="a-bare-word"),
        pytest.param('"W441"', (), id="a-text"),
        pytest.param("7", (), id="a-number"),
        pytest.param("null", (), id="null-as-text"),
        pytest.param('{"a": ' + "9" * 5000 + "}", (), id="a-number-beyond-all-digits"),
        pytest.param('{"a": ' + "[" * 10_000 + "}", (), id="nested-without-an-end"),
        pytest.param(["x"], (Flag.ARGS_NOT_STRING,), id="a-list-that-is-no-text"),
        pytest.param(7, (Flag.ARGS_NOT_STRING,), id="a-number-that-is-no-text"),
        pytest.param(False, (Flag.ARGS_NOT_STRING,), id="a-boolean-that-is-no-text"),
    ],
)
def test_arguments_that_nobody_can_read(value: Any, flags: tuple[str, ...]) -> None:
    read = read_arguments(value)

    assert read.arguments is None
    assert read.parse_error
    assert read.flags == flags
    assert read.arguments_raw == (
        value if isinstance(value, str) else json.dumps(value).replace(" ", "")
    )


@given(st.text() | st.text(alphabet='{}[]"\\:,a1 \n'))
def test_any_text_is_read_or_malformed(text: str) -> None:
    read = read_arguments(text)

    assert (read.arguments is None) == (read.parse_error is not None)


OBJECTS = st.dictionaries(
    st.text(),
    st.text() | st.integers() | st.booleans() | st.none() | st.lists(st.text(), max_size=2),
    min_size=1,
    max_size=3,
)


@given(OBJECTS, st.data())
def test_every_beginning_of_an_object_is_cut(value: Any, data: st.DataObject) -> None:
    text = json.dumps(value)
    length = data.draw(st.integers(min_value=1, max_value=len(text) - 1))

    assert is_cut(text[:length])
    assert not is_cut(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"a": W441', id="a-bare-word-in-it"),
        pytest.param("{a: 1", id="a-key-without-quotes"),
        pytest.param('{"a": 1}}', id="too-many-brackets"),
        pytest.param('{"a": "}"}', id="a-bracket-in-a-string"),
        pytest.param("[1, 2", id="a-list"),
        pytest.param(None, id="nothing"),
    ],
)
def test_what_is_not_cut(text: str | None) -> None:
    assert not is_cut(text)
