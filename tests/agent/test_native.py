"""What goes back to a strict server is well-formed, whatever came."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fc_eval.agent.native import PLACEHOLDER_NAME, NativeProtocol
from fc_eval.agent.protocol import AnsweredCall, ReadCall
from tests.agent.support import TOOLSET, reply, wire_call


def _answered(*calls: ReadCall) -> list[AnsweredCall]:
    return [
        AnsweredCall(call=call, history_id=f"id{index}", content="{}")
        for index, call in enumerate(calls)
    ]


def _message(call: ReadCall, message: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    answer = reply(more.pop("text", ""), call, message=message or {}, **more)
    return NativeProtocol(TOOLSET.openai()).assistant_message(answer, _answered(call))


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        pytest.param('{"a":  1}', '{"a":  1}', id="a-text-goes-back-as-it-came"),
        pytest.param({"a": "é"}, '{"a": "é"}', id="an-object-becomes-a-text"),
        pytest.param('{"a": 1,}', "{}", id="malformed-becomes-empty"),
        pytest.param("[1]", "{}", id="a-list-becomes-empty"),
        pytest.param("", "{}", id="nothing-becomes-empty"),
        pytest.param(None, "{}", id="null-becomes-empty"),
        pytest.param('{"n": 2512292042121000001}', '{"n": 2512292042121000001}', id="exact"),
    ],
)
def test_arguments_in_the_history(arguments: Any, sent: str) -> None:
    function = _message(wire_call("get_order", arguments))["tool_calls"][0]["function"]

    assert function["arguments"] == sent
    assert isinstance(json.loads(sent), dict)


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        pytest.param("get_order", "get_order", id="a-known-name"),
        pytest.param("find-order_2", "find-order_2", id="an-unknown-name"),
        pytest.param("functions.get_order", PLACEHOLDER_NAME, id="a-dot"),
        pytest.param("get_order\n", PLACEHOLDER_NAME, id="a-newline-at-the-end"),
        pytest.param("", PLACEHOLDER_NAME, id="no-name"),
        pytest.param("查询", PLACEHOLDER_NAME, id="other-letters"),
        pytest.param("x" * 65, PLACEHOLDER_NAME, id="too-long"),
    ],
)
def test_names_in_the_history(name: str, sent: str) -> None:
    assert _message(wire_call(name))["tool_calls"][0]["function"]["name"] == sent


def test_a_call_in_the_history_has_what_servers_need_and_no_more() -> None:
    signed = {"google": {"s": "x"}}
    call = wire_call("get_order", '{"order_id": "W1"}', index=0, extra_content=signed)

    assert _message(call)["tool_calls"] == [
        {
            "id": "id0",
            "type": "function",
            "function": {"name": "get_order", "arguments": '{"order_id": "W1"}'},
            "extra_content": signed,
        }
    ]


@pytest.mark.parametrize(
    ("text", "content"),
    [
        pytest.param("", None, id="empty-beside-calls-is-null"),
        pytest.param("I look.", "I look.", id="a-text-stays"),
    ],
)
def test_content_beside_calls(text: str, content: str | None) -> None:
    assert _message(wire_call("get_order"), text=text)["content"] == content


def test_an_answer_without_calls_has_a_text() -> None:
    message = NativeProtocol(TOOLSET.openai()).assistant_message(reply(""), [])

    assert message == {"role": "assistant", "content": ""}


def test_thinking_parts_go_back_as_they_came() -> None:
    parts = [
        {"type": "thinking", "thinking": "hm", "signature": "x"},
        {"type": "text", "text": "a"},
    ]

    assert _message(wire_call("get_order"), {"content": parts})["content"] == parts


MESSAGE = {
    "reasoning_content": "I think.",
    "reasoning_details": [{"text": "x"}],
    "extra_content": None,
    "refusal": None,
    "audio": None,
    "annotations": [],
}


@pytest.mark.parametrize(
    ("echo", "kept"),
    [
        pytest.param(True, {"reasoning_content", "reasoning_details"}, id="as-received"),
        pytest.param(False, set(), id="switched-off"),
    ],
)
def test_reasoning_goes_back_and_null_fields_do_not(echo: bool, kept: set[str]) -> None:
    call = wire_call("get_order")
    protocol = NativeProtocol(TOOLSET.openai(), echo_reasoning=echo)

    message = protocol.assistant_message(reply("", call, message=MESSAGE), _answered(call))

    assert set(message) - {"role", "content", "tool_calls"} == kept


def test_every_call_has_its_result() -> None:
    calls = [wire_call("get_order"), wire_call("", "{")]

    results = NativeProtocol(TOOLSET.openai()).result_messages(_answered(*calls))

    assert [(item["role"], item["tool_call_id"]) for item in results] == [
        ("tool", "id0"),
        ("tool", "id1"),
    ]


def test_no_tools_are_no_field() -> None:
    assert NativeProtocol([]).request_fields() == {}
    assert NativeProtocol(TOOLSET.openai()).request_fields() == {"tools": TOOLSET.openai()}
