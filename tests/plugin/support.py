"""Suites for the plugin's tests: one line a case, in the weather project of `examples/`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

OSLO = 'get_weather {"city": "Oslo"}'
BERGEN = 'get_weather {"city": "Bergen"}'


def case(
    case_id: str,
    instruction: str,
    *calls: tuple[str, dict[str, Any]],
    dimension: str = "D1",
    **fields: Any,
) -> dict[str, Any]:
    """A case line whose golden is *calls*; *fields* replace fields of the line."""
    golden = {
        "calls": [{"tool": tool, "params": params} for tool, params in calls],
        "order_sensitive": False,
        "allowed_extra": [],
    }
    line = {
        "id": case_id,
        "dimension": dimension,
        "category": "weather",
        "instruction": instruction,
        "context": {"db_fixture": "standard", "notes": "a note"},
        "golden": golden,
        "negative": not calls,
        "skip": False,
        "skip_reason": None,
    }
    return {**line, **fields}


def asks_oslo(case_id: str, instruction: str, **fields: Any) -> dict[str, Any]:
    """A case that wants the weather of Oslo."""
    return case(case_id, instruction, ("get_weather", {"city": "Oslo"}), **fields)


def weather(pytester: pytest.Pytester, *lines: dict[str, Any]) -> Path:
    """Lay the weather project out with a suite of *lines*; the path of the suite."""
    source = Path(__file__).parent / "examples" / "weather" / "conftest.py"
    pytester.makeconftest(source.read_text(encoding="utf-8"))
    return write_suite(pytester.path, *lines)


def write_suite(root: Path, *lines: dict[str, Any]) -> Path:
    """Write *lines* as the suite of the project at *root*."""
    suite = root / "cases" / "weather.jsonl"
    suite.parent.mkdir(exist_ok=True)
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    suite.write_text(text, encoding="utf-8")
    return suite


RIGHT = asks_oslo("w-right", OSLO)
WRONG = asks_oslo("w-wrong", BERGEN)
BROKEN = asks_oslo("w-broken", "raise the wire is cut")
QUIET = case("w-quiet", "hello there")


def last_run(root: Path) -> Path:
    """The folder of the only run of the project at *root*."""
    (folder,) = (root / ".fc_eval" / "runs").iterdir()
    return folder


def read_json(path: Path) -> Any:
    """The JSON value of a file."""
    return json.loads(path.read_text(encoding="utf-8"))
