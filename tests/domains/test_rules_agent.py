"""The keyword agent: what it plans from a text, and how it goes through a conversation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fc_eval.domains.rules_agent import next_message, plan

ROOT = Path(__file__).parents[2]
TOOLS: list[dict[str, Any]] = json.loads((ROOT / "fixtures/tools.json").read_text("utf-8"))
CANCEL = "帮我取消订单W441，不想要了。我确认，直接办。"
STUB = {"action_id": "act_0123456789ab", "status": "pending"}


@pytest.mark.parametrize(
    ("text", "tools"),
    [
        pytest.param("订单W441到哪了？", ["get_order"], id="an-order-that-is-asked-after"),
        pytest.param("w446 where is it now", ["get_order"], id="small-letters-in-an-identifier"),
        pytest.param("U101 有哪些待发货的订单？", ["list_orders"], id="the-orders-of-a-user"),
        pytest.param("我的账户U103资料给我看看", ["get_user"], id="the-account-of-a-user"),
        pytest.param("P203 的 I2031 还有货吗", ["check_stock"], id="stock-of-an-item"),
        pytest.param("P205 多少钱呀", ["get_product"], id="the-price-of-a-product"),
        pytest.param("鞋子能退吗", ["get_return_policy"], id="may-it-be-returned"),
        pytest.param("帮我取消W441，不要了", ["request_cancel"], id="a-request-alone"),
        pytest.param(CANCEL, ["request_cancel", "confirm_action"], id="a-request-confirmed"),
        pytest.param(
            "取消W441，下错了。算了，撤掉吧",
            ["request_cancel", "abort_action"],
            id="a-request-taken-back",
        ),
        pytest.param(
            "取消W441（下错了）并确认，然后取消W442，不需要了，也确认",
            ["request_cancel", "confirm_action"] * 2,
            id="each-request-is-finished-before-the-next",
        ),
        pytest.param(
            "先查一下W443，然后帮我把 I2031 退货，不亮了",
            ["get_order", "request_return"],
            id="a-lookup-before-the-request",
        ),
        pytest.param("退货退款，W443 的 I2031 坏了", ["request_return"], id="return-beats-refund"),
        pytest.param("不要取消W441，只想看看状态", ["get_order"], id="a-negated-request"),
        pytest.param("cancel act_12ab please", ["abort_action"], id="an-action-by-its-id"),
        pytest.param("如果我把W441取消了会怎么样", [], id="a-hypothetical-request"),
        pytest.param("你好呀", [], id="small-talk"),
        pytest.param("", [], id="nothing-at-all"),
    ],
)
def test_the_plan_names_the_tools_that_the_text_asks_for(text: str, tools: list[str]) -> None:
    assert [step.tool for step in plan(text)] == tools


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "cancel 一下 W441，I ordered it by mistake",
            {"order_id": "W441", "reason": "ordered_by_mistake"},
            id="a-mixed-sentence",
        ),
        pytest.param(
            "W443 里的 I2031 屏幕有裂痕，退款 199.5 元",
            {"item_id": "I2031", "reason": "defective", "amount": 199.5},
            id="an-amount-of-money",
        ),
        pytest.param(
            "W445的I2071跟描述不一样，退货，两件",
            {"reason": "not_as_described", "quantity": 2},
            id="a-number-in-words",
        ),
        pytest.param(
            "W443 refund, the screen is broken",
            {"explanation": "the screen is broken"},
            id="the-customers-own-words",
        ),
        pytest.param(
            "看看U102在2026年3月5号下的订单",
            {"user_id": "U102", "placed_on": "2026-03-05"},
            id="a-chinese-date",
        ),
        pytest.param(
            "W444的I2031想换成I2032",
            {"item_id": "I2031", "replacement_item_id": "I2032"},
            id="the-second-item-replaces-the-first",
        ),
        pytest.param(
            "把W441的收货地址改成：李雷，杭州市西湖区文三路100号，邮编310012",
            {
                "new_address": {
                    "recipient": "李雷",
                    "city": "杭州市",
                    "street": "西湖区文三路100号",
                    "postal_code": "310012",
                }
            },
            id="a-chinese-address",
        ),
        pytest.param(
            "Please change the address of W442 to: Li Lei, 100 Wensan Road, Hangzhou, 310012",
            {
                "new_address": {
                    "recipient": "Li Lei",
                    "city": "Hangzhou",
                    "street": "100 Wensan Road",
                    "postal_code": "310012",
                }
            },
            id="an-english-address",
        ),
    ],
)
def test_arguments_are_taken_from_the_text(text: str, expected: dict[str, Any]) -> None:
    arguments = plan(text)[0].arguments

    assert {name: arguments.get(name) for name in expected} == expected


def test_a_chain_uses_the_action_id_that_the_request_answered() -> None:
    first = next_message(user(CANCEL), TOOLS)
    second = next_message([*user(CANCEL), *answered(first, STUB)], TOOLS)
    done = {**STUB, "status": "confirmed"}
    last = next_message([*user(CANCEL), *answered(first, STUB), *answered(second, done)], TOOLS)

    assert called(first) == (
        "request_cancel",
        {"order_id": "W441", "reason": "no_longer_needed"},
    )
    assert called(second) == ("confirm_action", {"action_id": STUB["action_id"]})
    assert "tool_calls" not in last
    assert last["content"]


def test_an_order_with_one_item_tells_the_item_that_the_customer_left_out() -> None:
    text = user("先查一下W443，然后帮我退货，不亮了")
    lookup = next_message(text, TOOLS)
    order = {"order_id": "W443", "items": [{"item_id": "I2099", "quantity": 1}]}

    request = next_message([*text, *answered(lookup, order)], TOOLS)

    assert called(request)[1]["item_id"] == "I2099"


def test_a_refused_call_ends_in_an_apology() -> None:
    refused = {"error": {"code": "NOT_FOUND", "message": "no order W441"}}
    first = next_message(user(CANCEL), TOOLS)

    last = next_message([*user(CANCEL), *answered(first, refused)], TOOLS)

    assert "抱歉" in last["content"]


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        pytest.param("我要退货", "order_id", id="in-chinese"),
        pytest.param("Please cancel order W441", "reason", id="in-english"),
    ],
)
def test_what_is_missing_is_asked_for(text: str, missing: str) -> None:
    message = next_message(user(text), TOOLS)

    assert "tool_calls" not in message
    assert missing in message["content"]


def test_only_tools_of_the_request_are_called() -> None:
    message = next_message(user(CANCEL), TOOLS[:2])

    assert "tool_calls" not in message


@given(st.text() | st.from_regex(r"(取消|退款|换|查|确认|W441|I2031|act_1|，|。| ){0,12}"))
def test_any_text_gets_a_message_and_always_the_same(text: str) -> None:
    message = next_message(user(text), TOOLS)

    assert message == next_message(user(text), TOOLS)
    assert ("tool_calls" in message) != bool(message["content"])


def user(text: str) -> list[dict[str, Any]]:
    return [{"role": "system", "content": "Serve."}, {"role": "user", "content": text}]


def answered(message: dict[str, Any], result: object) -> list[dict[str, Any]]:
    call_id = message["tool_calls"][0]["id"]
    return [message, {"role": "tool", "tool_call_id": call_id, "content": json.dumps(result)}]


def called(message: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    function = message["tool_calls"][0]["function"]
    return function["name"], json.loads(function["arguments"])
