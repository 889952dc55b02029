"""Which confirm belongs to which request."""

from __future__ import annotations

from typing import Any

import pytest

from fc_eval.judge.chain import connected, early_requests, owners, stray_confirms
from fc_eval.records.case import Golden
from tests.judge.support import TOOLSET, golden_call, made


def golden_of(tools: str) -> Golden:
    return Golden(calls=tuple(map(golden_call, tools.split())), order_sensitive=True)


@pytest.mark.parametrize(
    ("tools", "owned_by"),
    [
        pytest.param("ship confirm", (None, 0), id="the-request-before-it"),
        pytest.param("ship abort", (None, 0), id="an-abort-is-a-confirm"),
        pytest.param("ship get_order confirm", (None, None, 0), id="over-a-read"),
        pytest.param("ship confirm refund abort", (None, 0, None, 2), id="one-after-the-other"),
        pytest.param("ship refund confirm abort", (None, None, 1, 0), id="the-nearest-first"),
        pytest.param("ship confirm confirm", (None, 0, None), id="a-request-has-one-only"),
        pytest.param("confirm ship", (None, None), id="a-later-request-owns-nothing"),
        pytest.param("log confirm", (None, None), id="a-write-has-no-second-step"),
        pytest.param("", (), id="no-calls"),
    ],
)
def test_owners(tools: str, owned_by: tuple[int | None, ...]) -> None:
    assert owners(golden_of(tools), TOOLSET) == owned_by


@pytest.mark.parametrize(
    ("tools", "strays"),
    [
        pytest.param("ship confirm", (), id="every-confirm-has-its-request"),
        pytest.param("confirm ship confirm confirm", (0, 3), id="without-a-request"),
        pytest.param("get_order log abort", (2,), id="neither-read-nor-write-is-one"),
    ],
)
def test_stray_confirms(tools: str, strays: tuple[int, ...]) -> None:
    assert stray_confirms(golden_of(tools), TOOLSET) == strays


@pytest.mark.parametrize(
    ("tools", "early"),
    [
        pytest.param("ship confirm refund confirm", (), id="each-resolved-before-the-next"),
        pytest.param("ship refund", (), id="requests-without-confirms"),
        pytest.param("ship refund confirm", (1,), id="before-the-first-has-its-own"),
        pytest.param("ship refund confirm abort", (1,), id="though-it-gets-one-later"),
        pytest.param("ship confirm refund", (), id="the-last-may-stay-open"),
        pytest.param("ship refund ship confirm", (1, 2), id="each-of-them"),
    ],
)
def test_early_requests(tools: str, early: tuple[int, ...]) -> None:
    assert early_requests(golden_of(tools), TOOLSET) == early


@pytest.mark.parametrize(
    ("returned", "used", "expected"),
    [
        pytest.param({"action_id": "a"}, "a", True, id="the-same"),
        pytest.param({"action_id": "a"}, "b", False, id="another"),
        pytest.param({"action_id": 1}, "1", False, id="types-count"),
        pytest.param({"error": {"code": "X", "message": ""}}, "a", False, id="an-error"),
        pytest.param({"action_id": None}, None, False, id="null-is-nothing"),
        pytest.param("a", "a", False, id="a-bare-value-has-no-name"),
        pytest.param(None, "a", False, id="nothing"),
    ],
)
def test_connected(returned: Any, used: Any, expected: bool) -> None:
    request = made("ship", returns=returned, order_id="W1")

    assert connected(made("confirm", action_id=used), request, "action_id") is expected


def test_unreadable_arguments_connect_to_nothing() -> None:
    request = made("ship", returns={"action_id": "a"}, order_id="W1")

    assert not connected(made("confirm", unreadable="{"), request, "action_id")
