"""Notes on oddities: what each is given for, and what it is not given for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fc_eval.agent.flags import is_narrated, notes_on_call, notes_on_text, text_dialect
from fc_eval.records.flags import Flag
from tests.agent.support import TOOLSET, wire_call

NAMES = TOOLSET.names()
NEAR, GLUED = Flag.NEAR_MISS_NAME, Flag.GLUED_NAME


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        pytest.param("get_order", (), id="the-name-itself"),
        pytest.param("functions.get_order", (NEAR,), id="a-namespace-before-it"),
        pytest.param("default_api:get_order", (NEAR,), id="another-namespace"),
        pytest.param("mcp__shop__get_order", (NEAR,), id="a-gateway-before-it"),
        pytest.param(" get_order", (NEAR,), id="a-blank-before-it"),
        pytest.param("get_order\n", (NEAR,), id="a-newline-after-it"),
        pytest.param("Get_Order", (NEAR,), id="another-case"),
        pytest.param("getOrder", (NEAR,), id="camel-case"),
        pytest.param("get-order", (NEAR,), id="a-hyphen"),
        pytest.param("get_order<|channel|>commentary", (NEAR, GLUED), id="a-token-after-it"),
        pytest.param("get_orderjson", (NEAR, GLUED), id="a-format-word-after-it"),
        pytest.param("get_orderlist_reasons", (NEAR, GLUED), id="another-name-after-it"),
        pytest.param('get_order{"order_id"', (NEAR, GLUED), id="its-arguments-after-it"),
        pytest.param("lookup_order", (), id="an-invented-name"),
        pytest.param("get_orders", (), id="a-name-that-is-only-alike"),
        pytest.param("multi_tool_use.parallel", (), id="a-wrapper"),
        pytest.param("", (), id="no-name"),
        pytest.param(None, (), id="a-broken-call"),
    ],
)
def test_names(name: str | None, flags: tuple[Flag, ...]) -> None:
    assert notes_on_call(wire_call(name), TOOLSET) == flags


@pytest.mark.parametrize(
    ("arguments", "flags"),
    [
        pytest.param('{"order_id": "W1"}', (), id="plain-values"),
        pytest.param('{"order_id": "W1", "verbose": null}', (Flag.NULL_OPTIONAL,), id="null"),
        pytest.param('{"order_id": null}', (), id="null-for-a-required-one"),
        pytest.param(
            '{"name": "get_order", "arguments": {"order_id": "W1"}}',
            (Flag.NEAR_MISS_ARGS, Flag.NESTED_ENVELOPE),
            id="the-whole-call-inside",
        ),
        pytest.param('{"order_id": "W\ufffd"}', (Flag.REPLACEMENT_CHAR,), id="a-lost-character"),
        pytest.param('{"order_id": "W\\ud800"}', (Flag.LONE_SURROGATE,), id="half-a-pair"),
        pytest.param('{"order_id": "W\\u200b1"}', (Flag.INVISIBLE_CHAR,), id="unseen"),
        pytest.param('{"order_id": "退款 😢"}', (), id="letters-of-any-script"),
        pytest.param('{"order_id": ["W\\ufeff1"]}', (Flag.INVISIBLE_CHAR,), id="unseen-in-a-list"),
    ],
)
def test_values(arguments: str, flags: tuple[Flag, ...]) -> None:
    assert notes_on_call(wire_call("get_order", arguments), TOOLSET) == flags


CALL = '{"name": "get_order", "arguments": {"order_id": "W1"}}'


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        pytest.param(f"<tool_call>\n{CALL}\n</tool_call>", "hermes", id="hermes"),
        pytest.param(f"Let me see.\n<tool_call>{CALL}</tool_call>", "hermes", id="after-words"),
        pytest.param(
            f"<tool_call>{CALL}</tool_call>\nIt is on its way.", "hermes", id="and-a-guess"
        ),
        pytest.param(
            "<tool_call>\n<function=get_order>\n<parameter=order_id>\nW1\n</parameter>\n"
            "</function>\n</tool_call>",
            "qwen xml",
            id="qwen",
        ),
        pytest.param(
            "<tool_call>get_order\n<arg_key>order_id</arg_key>\n<arg_value>W1</arg_value>\n"
            "</tool_call>",
            "glm",
            id="glm",
        ),
        pytest.param(f"[TOOL_CALLS] [{CALL}]", "mistral", id="mistral"),
        pytest.param(f"```json\n{CALL}\n```", "json fence", id="a-fence"),
        pytest.param(CALL, "json", id="bare-json"),
        pytest.param(f"[{CALL}]", "json", id="a-list-of-json"),
        pytest.param('{"name": "get_order", "parameters": {}}', "json", id="parameters"),
        pytest.param('[get_order(order_id="W1")]', "pythonic", id="pythonic"),
        pytest.param('get_order(order_id="W1")', "pythonic", id="a-function-call"),
        pytest.param('get_order{"order_id": "W1"}', "name and json", id="name-and-json"),
        pytest.param('<|tool_call>call:get_order{order_id:"W1"}<tool_call|>', "gemma", id="gemma"),
        pytest.param(
            '<function_calls>\n<invoke name="get_order">\n<parameter name="order_id">W1'
            "</parameter>\n</invoke>\n</function_calls>",
            "invoke xml",
            id="invoke",
        ),
        pytest.param(
            "<|start|>assistant<|channel|>commentary to=functions.get_order <|constrain|>json"
            '<|message|>{"order_id": "W1"}<|call|>',
            "harmony",
            id="harmony",
        ),
        pytest.param(f"<|python_tag|>{CALL}", "llama", id="llama"),
        pytest.param(
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_order",
            "deepseek",
            id="deepseek",
        ),
        pytest.param(
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_order:0",
            "kimi",
            id="kimi",
        ),
        pytest.param('Action: get_order\nAction Input: {"order_id": "W1"}', "react", id="react"),
        pytest.param("Your order W1 is on its way.", None, id="an-answer"),
        pytest.param(
            f"Some models write <tool_call>{CALL}</tool_call> to call a tool.",
            None,
            id="a-call-that-is-only-quoted",
        ),
        pytest.param(
            f"A call looks so:\n```json\n{CALL}\n```\nThe name comes first.",
            None,
            id="a-fence-that-is-explained",
        ),
        pytest.param("I used get_order (the lookup) for that.", None, id="a-name-in-words"),
        pytest.param('{"status": "shipped"}', None, id="json-that-is-no-call"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_calls_that_are_written_as_text(text: str, dialect: str | None) -> None:
    assert text_dialect(text, NAMES) == dialect


@given(st.text(), st.lists(st.text(min_size=1, max_size=5), max_size=3))
def test_any_text_has_a_dialect_or_none(text: str, names: list[str]) -> None:
    text_dialect(text, names)
    is_narrated(text)


@pytest.mark.parametrize("unit", ["\n", " ", "[", "{", "<", "w", "get_order", '{"name":'])
def test_long_texts_cost_linear_time(unit: str) -> None:
    # Quadratic, this would take minutes.
    text_dialect("<|a|>" + unit * (1_000_000 // len(unit)), NAMES)
    text_dialect(unit * (1_000_000 // len(unit)), NAMES)


@pytest.mark.parametrize(
    ("text", "narrated"),
    [
        pytest.param("I will now read the order:", True, id="i-will"),
        pytest.param("Sure. Let me check that for you.", True, id="let-me"),
        pytest.param("I'll look it up...", True, id="i-ll"),
        pytest.param("好的，我来帮您查询订单。", True, id="chinese"),
        pytest.param("请稍等，正在为您查询", True, id="chinese-one-moment"),
        pytest.param("Let me know if you need more.", False, id="let-me-know"),
        pytest.param("I will help. Which order do you mean?", False, id="a-question-after-it"),
        pytest.param("The order was shipped on Monday.", False, id="a-plain-answer"),
        pytest.param("您的订单已发货。", False, id="a-plain-answer-in-chinese"),
        pytest.param("", False, id="nothing"),
    ],
)
def test_announcements(text: str, narrated: bool) -> None:
    assert is_narrated(text) == narrated


@pytest.mark.parametrize(
    ("text", "reasoning", "flags"),
    [
        pytest.param("Done.", "", (), id="an-answer"),
        pytest.param(" \n", "", (Flag.EMPTY_FINAL,), id="blanks"),
        pytest.param(
            "",
            f"<tool_call>{CALL}</tool_call>",
            (Flag.EMPTY_FINAL, Flag.TEXT_ENCODED_CALL),
            id="a-call-in-the-reasoning",
        ),
        pytest.param("Done.", f"<tool_call>{CALL}</tool_call>", (), id="a-draft-and-an-answer"),
        pytest.param(CALL, "", (Flag.TEXT_ENCODED_CALL,), id="a-call-as-text"),
        pytest.param("I will check.", "", (Flag.NARRATED_INTENT,), id="an-announcement"),
    ],
)
def test_answers_without_calls(text: str, reasoning: str, flags: tuple[Any, ...]) -> None:
    notes = notes_on_text(text, reasoning, names=NAMES)

    assert notes.flags == flags
    assert bool(notes.warnings) == (Flag.TEXT_ENCODED_CALL in flags)
