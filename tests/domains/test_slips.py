"""Names in a domain that no tool has."""

from __future__ import annotations

from typing import Any

import pytest

from fc_eval.domains.protocol import Domain
from fc_eval.domains.slips import domain_slips


def tool(name: str, kind: str, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties}
    return {"type": "function", "kind": kind, "function": {"name": name, "parameters": schema}}


TEXT = {"type": "string"}
NESTED = {"type": "object", "properties": {"account": TEXT}}


@pytest.mark.parametrize(
    ("known", "link", "slips"),
    [
        pytest.param({"order": ["a"]}, "ticket", [], id="all-names-are-there"),
        pytest.param({"account": ["a"]}, "ticket", [], id="at-any-depth"),
        pytest.param({"acct": ["a"]}, "ticket", ["known_ids names 'acct'"], id="misspelt-id"),
        pytest.param({}, "tickets", ["the link is 'tickets'"], id="misspelt-link"),
    ],
)
def test_slips(known: dict[str, list[str]], link: str, slips: list[str]) -> None:
    tools = [
        tool("ask", "request", order=TEXT, sender=NESTED),
        tool("sign", "confirm", ticket=TEXT),
    ]
    domain = Domain.build(
        tools=tools,
        sandbox={"ask": lambda order="", sender="": {}, "sign": lambda **given: {}},
        known_ids=known,
        link=link,
    )

    found = domain_slips(domain)

    assert [note.partition(",")[0] for note in found] == slips
