"""What the tools of the shop answer, and that nothing they do outlives the case."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import pytest

from fc_eval.domains.protocol import Sandbox
from fc_eval.errors import ToolError
from tests.domains.support import case, retail

CANCEL = {"order_id": "W441", "reason": "other"}


@pytest.fixture
def sandbox() -> Sandbox:
    return retail().make_sandbox(case())


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        pytest.param("get_user", {"user_id": "U101"}, {"name": "林晓雨"}, id="a-customer"),
        pytest.param("get_order", {"order_id": "W442"}, {"status": "shipped"}, id="an-order"),
        pytest.param(
            "get_product", {"product_id": "P203"}, {"category": "footwear"}, id="a-product"
        ),
        pytest.param(
            "check_stock",
            {"product_id": "P205", "item_id": "I2052"},
            {"items": [{"item_id": "I2052", "options": {"switch": "茶轴"}, "stock": 0}]},
            id="the-stock-of-one-item",
        ),
        pytest.param("get_return_policy", {"category": "food"}, {"exchange": False}, id="a-policy"),
    ],
)
def test_a_read_answers_from_the_fixtures(
    sandbox: Sandbox, tool: str, arguments: dict[str, Any], expected: Mapping[str, Any]
) -> None:
    assert expected.items() <= sandbox.call(tool, arguments).items()


def test_a_product_page_does_not_tell_the_stock(sandbox: Sandbox) -> None:
    product = sandbox.call("get_product", {"product_id": "P203"})
    stock = sandbox.call("check_stock", {"product_id": "P203"})

    assert [set(item) for item in product["items"]] == [{"item_id", "options", "price"}] * 3
    assert [item["stock"] for item in stock["items"]] == [6, 2, 0]


def test_the_whole_policy_names_every_category(sandbox: Sandbox) -> None:
    tool = retail().toolset.get("get_return_policy")

    assert tool is not None
    policy = sandbox.call("get_return_policy", {})
    assert list(policy["categories"]) == tool.properties["category"]["enum"]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        pytest.param({}, ["W441", "W442", "W443"], id="all-newest-first"),
        pytest.param({"status": "shipped"}, ["W442"], id="by-state"),
        pytest.param({"placed_on": "2026-02-20"}, ["W443"], id="by-day"),
        pytest.param({"placed_on": "20260220"}, ["W443"], id="by-day-in-basic-form"),
        pytest.param({"placed_on": "2026-W08-5"}, ["W443"], id="by-day-of-a-week"),
        pytest.param({"status": "shipped", "placed_on": "2026-02-20"}, [], id="by-both"),
    ],
)
def test_orders_are_listed(sandbox: Sandbox, filters: dict[str, Any], expected: list[str]) -> None:
    found = sandbox.call("list_orders", {"user_id": "U101", **filters})

    assert [order["order_id"] for order in found["orders"]] == expected


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        pytest.param("get_user", {"user_id": "U999"}, "NOT_FOUND", id="no-such-customer"),
        pytest.param("list_orders", {"user_id": "U999"}, "NOT_FOUND", id="orders-of-nobody"),
        pytest.param("get_order", {"order_id": "W999"}, "NOT_FOUND", id="no-such-order"),
        pytest.param("get_product", {"product_id": "P999"}, "NOT_FOUND", id="no-such-product"),
        pytest.param(
            "check_stock",
            {"product_id": "P203", "item_id": "I2011"},
            "NOT_FOUND",
            id="an-item-of-another-product",
        ),
        pytest.param(
            "request_cancel",
            {"order_id": "W999", "reason": "other"},
            "NOT_FOUND",
            id="a-request-for-no-order",
        ),
        pytest.param(
            "request_return",
            {"order_id": "W441", "item_id": "I2011", "reason": "other"},
            "NOT_FOUND",
            id="an-item-of-another-order",
        ),
        pytest.param(
            "request_exchange",
            {"order_id": "W441", "item_id": "I2031", "replacement_item_id": "I9999"},
            "NOT_FOUND",
            id="no-such-replacement",
        ),
        pytest.param(
            "list_orders",
            {"user_id": "U101", "placed_on": "yesterday"},
            "INVALID_ARGUMENTS",
            id="a-day-that-is-none",
        ),
        pytest.param("confirm_action", {"action_id": "act_1"}, "UNKNOWN_ACTION", id="no-action"),
        pytest.param("pay", {}, "UNKNOWN_TOOL", id="no-such-tool"),
    ],
)
def test_a_fault_is_answered_with_its_code(
    sandbox: Sandbox, tool: str, arguments: dict[str, Any], code: str
) -> None:
    with pytest.raises(ToolError) as caught:
        sandbox.call(tool, arguments)

    assert caught.value.code == code


def test_a_request_answers_a_stub(sandbox: Sandbox) -> None:
    stub = sandbox.call("request_cancel", CANCEL)

    assert stub == {
        "action_id": stub["action_id"],
        "tool": "request_cancel",
        "status": "pending",
        "arguments": CANCEL,
    }


def test_whether_a_request_is_wise_is_not_asked(sandbox: Sandbox) -> None:
    stub = sandbox.call("request_cancel", {"order_id": "W448", "reason": "other"})

    assert stub["status"] == "pending"


@pytest.mark.parametrize(
    ("tool", "status"), [("confirm_action", "confirmed"), ("abort_action", "aborted")]
)
def test_a_pending_request_is_resolved_once(sandbox: Sandbox, tool: str, status: str) -> None:
    action = {"action_id": sandbox.call("request_cancel", CANCEL)["action_id"]}

    assert sandbox.call(tool, action)["status"] == status
    for again in ("confirm_action", "abort_action"):
        with pytest.raises(ToolError, match="ACTION_ALREADY_RESOLVED"):
            sandbox.call(again, action)


def test_action_ids_repeat_with_the_case_and_differ_otherwise() -> None:
    def ids(name: str) -> list[str]:
        sandbox = retail().make_sandbox(case(name))
        return [sandbox.call("request_cancel", CANCEL)["action_id"] for _ in range(3)]

    assert ids("one") == ids("one")
    assert len({*ids("one"), *ids("two")}) == 6


def test_a_sandbox_knows_nothing_of_another_cases_requests(sandbox: Sandbox) -> None:
    action = {"action_id": sandbox.call("request_cancel", CANCEL)["action_id"]}

    with pytest.raises(ToolError, match="UNKNOWN_ACTION"):
        retail().make_sandbox(case()).call("confirm_action", action)


def test_results_can_be_changed_without_changing_the_fixtures(sandbox: Sandbox) -> None:
    arguments = copy.deepcopy(CANCEL)
    stub = sandbox.call("request_cancel", arguments)
    order = sandbox.call("get_order", {"order_id": "W441"})
    before = copy.deepcopy(order)

    order["items"].clear()
    arguments["order_id"] = "W999"
    stub["status"] = "confirmed"

    assert sandbox.call("get_order", {"order_id": "W441"}) == before
    resolved = sandbox.call("confirm_action", {"action_id": stub["action_id"]})
    assert resolved["arguments"] == CANCEL
