from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fc_eval.records.layout import Script, render_artifact

text = st.text(st.characters(codec=None)) | st.sampled_from(
    ["\\u4e2d", "\\\\u4e2d", "中\\", "\ud800", "\ude00\ud83d", "\u200b", "a\u202eb", "\x00\x7f"]
)
finite = st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=12,
)


@given(json_values, st.sampled_from(Script))
def test_every_value_reads_back(value: Any, script: Script) -> None:
    written = render_artifact(value, script=script)

    assert json.loads(written) == value
    assert json.loads(written.encode("utf-8").decode("utf-8")) == value
    assert written.endswith("\n")


@given(json_values)
def test_the_ascii_script_is_ascii(value: Any) -> None:
    assert render_artifact(value).isascii()


def test_a_case_is_a_line_and_keys_are_sorted() -> None:
    value = {"b": {"cases": [{"z": [{"q": 1}], "a": 2}, {"a": 3}]}, "a": [1, 2], "c": {}, "d": []}

    assert render_artifact(value).splitlines() == [
        "{",
        '  "a": [1,2],',
        '  "b": {',
        '    "cases": [',
        '      {"a":2,"z":[{"q":1}]},',
        '      {"a":3}',
        "    ]",
        "  },",
        '  "c": {},',
        '  "d": []',
        "}",
    ]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        pytest.param("取消", '"取消"', id="what-can-be-read-stands-there"),
        pytest.param("😀", '"😀"', id="a-pair-of-escapes-is-one-character"),
        pytest.param("\ud800", '"\\ud800"', id="half-a-pair-keeps-its-escape"),
        pytest.param("a\u200bb\u202e", '"a\\u200bb\\u202e"', id="what-nobody-sees-is-escaped"),
        pytest.param("\\u53d6", '"\\\\u53d6"', id="a-backslash-stays-a-backslash"),
        pytest.param('取"\n', '"取\\"\\n"', id="json-escapes-stay"),
    ],
)
def test_the_readable_script(value: str, shown: str) -> None:
    assert render_artifact(value, script=Script.READABLE) == shown + "\n"


def test_infinity_is_no_json() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        render_artifact({"a": float("inf")})
