"""Case lines that are right but for what a test changes, and a small domain to check them in."""

from __future__ import annotations

import json
from typing import Any

from fc_eval.cases.check import Suite, validate
from fc_eval.domains.protocol import Domain
from fc_eval.errors import CaseError, FaultsError

ORDER = {"type": "string", "minLength": 1}


def _tool(name: str, kind: str, *required: str, **properties: Any) -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
    return {
        "type": "function",
        "kind": kind,
        "function": {"name": name, "parameters": parameters},
    }


TOOLS = [
    _tool("get_order", "read", "order_id", order_id=ORDER),
    _tool("list_orders", "read", placed_on={}, status={"enum": ["pending", "shipped"]}),
    _tool(
        "request_cancel",
        "request",
        "order_id",
        order_id=ORDER,
        note={"type": "object", "properties": {"order_id": ORDER}},
    ),
    _tool("confirm_action", "confirm", "action_id", action_id={"type": "string"}),
    _tool("delete_order", "write", "order_id", order_id=ORDER),
]

DOMAIN = Domain.build(
    tools=TOOLS,
    sandbox={
        name: lambda **arguments: arguments for name in (t["function"]["name"] for t in TOOLS)
    },
    known_ids={"order_id": {"W1", "W2", "W30"}},
)

READ = {"tool": "get_order", "params": {"order_id": "W1"}}
REQUEST = {"tool": "request_cancel", "params": {"order_id": "W1"}}
CONFIRM = {
    "tool": "confirm_action",
    "params": {"action_id": "<action_id>"},
    "param_rules": {"action_id": "any"},
}


def golden(*calls: Any, **changes: Any) -> dict[str, Any]:
    """A golden of *calls* in any order, with *changes*."""
    return {"calls": list(calls), "order_sensitive": False, **changes}


def entry(**changes: Any) -> dict[str, Any]:
    """The JSON object of a case that is right but for its *changes*."""
    return {
        "id": "one",
        "dimension": "D1",
        "category": "look",
        "instruction": "Where is W1?",
        "context": {"db_fixture": "standard", "notes": "A note."},
        "golden": golden(READ),
        "negative": False,
        "skip": False,
        "skip_reason": None,
        **changes,
    }


def without(name: str, data: dict[str, Any]) -> dict[str, Any]:
    """*data* without the field *name*."""
    return {key: value for key, value in data.items() if key != name}


def lines(*entries: dict[str, Any]) -> str:
    """The text of a case file."""
    return "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in entries)


def numbered(*entries: dict[str, Any]) -> list[dict[str, Any]]:
    """*entries* with ids and instructions of their own."""
    return [
        {**item, "id": f"case-{number}", "instruction": f"Say {number}."}
        for number, item in enumerate(entries, 1)
    ]


def check(*files: str, suite: str | None = None) -> Suite:
    """Validate texts as `cases/0.jsonl`, `cases/1.jsonl` and so on, beside `cases/suite.json`."""
    return validate(
        files=[(f"cases/{number}.jsonl", text) for number, text in enumerate(files)],
        suite_text=None if suite is None else ("cases/suite.json", suite),
        domain=DOMAIN,
    )


def faults(*files: str, suite: str | None = None) -> list[CaseError]:
    """What `check` refuses, in its order; empty where it refuses nothing."""
    try:
        check(*files, suite=suite)
    except FaultsError as error:
        return [fault for fault in error.faults if isinstance(fault, CaseError)]
    return []


def told(found: list[CaseError]) -> list[str]:
    """Faults as `file:line: problem`, without the folder."""
    return [str(fault).splitlines()[0].removeprefix("cases/") for fault in found]
