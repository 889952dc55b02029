"""Text of a model, made fit for a terminal."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fc_eval.records.text import columns, fit, nests_too_deep, printable, show_value, wrap


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("Größe 42 €", "Größe 42 €", id="letters-and-signs-stay"),
        pytest.param("请取消订单 W441。", "请取消订单 W441。", id="chinese-stays"),
        pytest.param("👍", "👍", id="emoji-stay"),
        pytest.param(r"C:\x", r"C:\x", id="backslashes-stay-single"),
        pytest.param("a\r\n\tb", r"a\r\n\tb", id="line-ends-and-tabs"),
        pytest.param("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m", id="ansi-escapes"),
        pytest.param("\x9b31m", r"\x9b31m", id="eight-bit-escapes"),
        pytest.param("\x00\x7f", r"\x00\x7f", id="control-characters"),
        pytest.param("\ud83d", r"\ud83d", id="lone-surrogates"),
        pytest.param("a\u200bb\ufeff", r"a\u200bb\ufeff", id="zero-width"),
        pytest.param("\u202eabc\u2066", r"\u202eabc\u2066", id="bidirectional"),
        pytest.param("a\u00a0b\u3000", r"a\xa0b\u3000", id="blanks-that-are-no-blank"),
        pytest.param("a\u2028b", r"a\u2028b", id="line-separators"),
        pytest.param("\u3164\ufe0f\u115f", r"\u3164\ufe0f\u115f", id="letters-without-a-glyph"),
        pytest.param("\U000e0041", r"\U000e0041", id="tags"),
    ],
)
def test_printable(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(text=st.text() | st.text(st.characters(categories=["Cs", "Cc", "Cf", "Mn"])))
def test_printable_text_is_printable_and_stays_as_it_is(text: str) -> None:
    shown = printable(text)

    assert shown.isprintable()
    assert printable(shown) == shown
    assert "\x1b" not in shown
    shown.encode("utf-8")


@given(text=st.text(), limit=st.integers(1, 20))
def test_printable_keeps_its_limit(text: str, limit: int) -> None:
    shown = printable(text, limit)

    assert len(shown) <= limit
    assert shown == printable(text) or shown.endswith("…")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        pytest.param("a'b", "'a'b'", id="strings-in-single-quotes"),
        pytest.param({"b": 1, "a": [True, None]}, '{"a": [true, null], "b": 1}', id="json"),
        pytest.param("红色\n", "'红色\\n'", id="escaped-where-it-must-be"),
        pytest.param("x" * 99, f"'{'x' * 79}…'", id="shortened"),
    ],
)
def test_show_value(value: Any, shown: str) -> None:
    assert show_value(value) == shown


def test_a_value_without_end_is_named_not_shown() -> None:
    value: Any = []
    for _ in range(10_000):
        value = [value]

    assert nests_too_deep(value)
    assert show_value(value) == "a value of more than 100 levels"


@pytest.mark.parametrize(
    ("value", "too_deep"),
    [
        pytest.param(1, False, id="a-number-has-no-level"),
        pytest.param([], False, id="one-level"),
        pytest.param([[]], False, id="two-levels"),
        pytest.param([{"a": [1]}], True, id="three-levels"),
        pytest.param([1, [2, {}]], True, id="the-deepest-counts"),
    ],
)
def test_levels_are_counted(value: Any, too_deep: bool) -> None:
    assert nests_too_deep(value, 2) is too_deep


@pytest.mark.parametrize(
    ("text", "width", "fitted"),
    [
        pytest.param("ab", 4, "ab  ", id="padded"),
        pytest.param("abcdef", 4, "abc…", id="cut"),
        pytest.param("订单", 4, "订单", id="wide-characters-take-two-columns"),
        pytest.param("订单号", 4, "订… ", id="and-are-never-cut-in-half"),
        pytest.param("e\u0301", 2, "e\u0301 ", id="combining-marks-take-none"),
    ],
)
def test_fit(text: str, width: int, fitted: str) -> None:
    assert fit(text, width) == fitted


@given(text=st.text(st.sampled_from("ab订é\u0301"), max_size=12), width=st.integers(2, 9))
def test_wrapped_lines_keep_their_width_and_lose_nothing(text: str, width: int) -> None:
    lines = wrap(text, width)

    assert "".join(lines) == text
    assert all(columns(line) <= width for line in lines)
    assert columns(fit(text, width)) == width
