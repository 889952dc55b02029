"""The retail sandbox: reads over the fixtures, stubs for what would change something.

It says what the tools of a shop answer. Whether a request is wise (a refund for an order that was
never paid, say) is not asked: such a request gets its stub like any other. Nothing is ever changed
but the state of the stubs, and they live and die with the case.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any, Final, Literal, TypedDict, TypeVar

from fc_eval.errors import ToolError
from fc_eval.records.codec import JsonValue, digest

NOT_FOUND: Final = "NOT_FOUND"
INVALID_ARGUMENTS: Final = "INVALID_ARGUMENTS"
UNKNOWN_TOOL: Final = "UNKNOWN_TOOL"
UNKNOWN_ACTION: Final = "UNKNOWN_ACTION"
ACTION_ALREADY_RESOLVED: Final = "ACTION_ALREADY_RESOLVED"

T = TypeVar("T")

REQUESTS: Final = (
    "request_address_update",
    "request_cancel",
    "request_return",
    "request_exchange",
    "request_refund",
)
"""The tools that answer a stub; all of them name an order."""


class UserRow(TypedDict):
    """A row of users.json; more fields are welcome."""

    user_id: str


class OrderItem(TypedDict):
    """An item of an order."""

    item_id: str


class OrderRow(TypedDict):
    """A row of orders.json; more fields are welcome."""

    order_id: str
    user_id: str
    placed_on: str
    status: Literal["pending", "shipped", "delivered", "cancelled"]
    total: float
    items: list[OrderItem]


class ProductItem(TypedDict):
    """A variant of a product."""

    item_id: str
    options: dict[str, Any]
    stock: int


class ProductRow(TypedDict):
    """A row of products.json; more fields are welcome."""

    product_id: str
    category: str
    items: list[ProductItem]


class PolicyTable(TypedDict):
    """The whole of return_policy.json."""

    general: dict[str, Any]
    categories: dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetailData:
    """The fixtures, each table by its id; `items` maps an item's id to its product's."""

    users: Mapping[str, UserRow]
    orders: Mapping[str, OrderRow]
    products: Mapping[str, ProductRow]
    items: Mapping[str, str]
    policy: PolicyTable

    @classmethod
    def from_tables(
        cls,
        *,
        users: Sequence[UserRow],
        orders: Sequence[OrderRow],
        products: Sequence[ProductRow],
        policy: PolicyTable,
    ) -> RetailData:
        """Index the four fixture files, as they were read."""
        return cls(
            users={row["user_id"]: row for row in users},
            orders={row["order_id"]: row for row in orders},
            products={row["product_id"]: row for row in products},
            items={item["item_id"]: row["product_id"] for row in products for item in row["items"]},
            policy=policy,
        )

    @property
    def known_ids(self) -> dict[str, frozenset[str]]:
        """The identifiers that exist, by the names of the parameters that carry them."""
        return {
            "user_id": frozenset(self.users),
            "order_id": frozenset(self.orders),
            "product_id": frozenset(self.products),
            "item_id": frozenset(self.items),
            "replacement_item_id": frozenset(self.items),
        }

    @property
    def database_digest(self) -> str:
        """SHA-256 over users, orders and products."""
        tables = (self.users, self.orders, self.products)
        return digest([list(table.values()) for table in tables])

    @property
    def policy_digest(self) -> str:
        """SHA-256 over the return policy."""
        return digest(self.policy)


class RetailSandbox:
    """The executor of one case.

    Args:
        data: The fixtures; shared between cases, and never changed.
        case_id: What action ids are derived from, so that a case's ids are always the same.
    """

    def __init__(self, data: RetailData, case_id: str) -> None:
        self._data = data
        self._case_id = case_id
        self._calls = 0
        self._stubs: dict[str, dict[str, JsonValue]] = {}
        self.tools: Mapping[str, Callable[..., JsonValue]] = {
            "get_user": self._get_user,
            "get_order": self._get_order,
            "list_orders": self._list_orders,
            "get_product": self._get_product,
            "check_stock": self._check_stock,
            "get_return_policy": self._get_return_policy,
            **{name: partial(self._request, name) for name in REQUESTS},
            "confirm_action": partial(self._resolve, "confirmed"),
            "abort_action": partial(self._resolve, "aborted"),
        }

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> JsonValue:
        """Run the tool *name*.

        Raises:
            ToolError: `NOT_FOUND`, `UNKNOWN_ACTION`, `ACTION_ALREADY_RESOLVED`, `UNKNOWN_TOOL`, or
                `INVALID_ARGUMENTS` for a day that no calendar has.
        """
        self._calls += 1
        tool = self.tools.get(name)
        if tool is None:
            raise ToolError(UNKNOWN_TOOL, f"there is no tool {name!r}")
        # Who holds a result can do with it what they like: the fixtures and stubs stay as they are.
        return copy.deepcopy(tool(**arguments))

    def _get_user(self, user_id: str) -> JsonValue:
        return _found(self._data.users, user_id, "user")

    def _get_order(self, order_id: str) -> JsonValue:
        return _found(self._data.orders, order_id, "order")

    def _list_orders(
        self, user_id: str, status: str | None = None, placed_on: str | None = None
    ) -> JsonValue:
        _found(self._data.users, user_id, "user")
        day = None if placed_on is None else _day(placed_on)
        rows = [
            row
            for row in self._data.orders.values()
            if row["user_id"] == user_id
            and (status is None or row["status"] == status)
            and (day is None or row["placed_on"] == day)
        ]
        rows.sort(key=lambda row: (row["placed_on"], row["order_id"]), reverse=True)
        return {"orders": [_only(row, "order_id", "placed_on", "status", "total") for row in rows]}

    def _get_product(self, product_id: str) -> JsonValue:
        product = _found(self._data.products, product_id, "product")
        # Stock has a tool of its own; a product page does not tell it.
        items = [
            {name: value for name, value in item.items() if name != "stock"}
            for item in product["items"]
        ]
        return {**product, "items": items}

    def _check_stock(self, product_id: str, item_id: str | None = None) -> JsonValue:
        product = _found(self._data.products, product_id, "product")
        rows = [item for item in product["items"] if item_id in (None, item["item_id"])]
        if not rows:
            raise ToolError(NOT_FOUND, f"product {product_id} has no item {item_id}")
        items = [_only(row, "item_id", "options", "stock") for row in rows]
        return {"product_id": product_id, "items": items}

    def _get_return_policy(self, category: str | None = None) -> JsonValue:
        if category is None:
            return self._data.policy
        rules = _found(self._data.policy["categories"], category, "category")
        return {"general": self._data.policy["general"], "category": category, **rules}

    def _request(self, tool: str, /, **arguments: JsonValue) -> JsonValue:
        order = _found(self._data.orders, arguments["order_id"], "order")
        item: str | None = arguments.get("item_id")
        if item is not None and all(row["item_id"] != item for row in order["items"]):
            raise ToolError(NOT_FOUND, f"order {order['order_id']} has no item {item}")
        replacement = arguments.get("replacement_item_id")
        if replacement is not None:
            _found(self._data.items, replacement, "item")
        action_id = self._next_action_id()
        stub: dict[str, JsonValue] = {
            "action_id": action_id,
            "tool": tool,
            "status": "pending",
            "arguments": copy.deepcopy(arguments),
        }
        self._stubs[action_id] = stub
        return stub

    def _next_action_id(self) -> str:
        # A hash: the same in every run, and nothing that a model could count up to.
        seed = f"{self._case_id}\n{self._calls}".encode()
        return f"act_{hashlib.sha256(seed).hexdigest()[:12]}"

    def _resolve(self, status: str, /, action_id: str) -> JsonValue:
        stub = self._stubs.get(action_id)
        if stub is None:
            raise ToolError(UNKNOWN_ACTION, f"there is no action {action_id}")
        if stub["status"] != "pending":
            raise ToolError(
                ACTION_ALREADY_RESOLVED, f"action {action_id} is already {stub['status']}"
            )
        stub["status"] = status
        return stub


def _found(table: Mapping[str, T], key: str, what: str) -> T:
    if key not in table:
        raise ToolError(NOT_FOUND, f"there is no {what} {key}")
    return table[key]


def _only(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: row[name] for name in names}


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise ToolError(
            INVALID_ARGUMENTS, f"placed_on is {text!r}, no ISO 8601 date such as 2026-03-12"
        ) from None
