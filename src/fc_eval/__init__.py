"""Judge, case by case, whether an LLM agent calls its tools rightly.

The names below are the public API; each is loaded on first use, so that importing the package
costs nothing in a session that has no cases.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fc_eval.agent.task import Agent as Agent
    from fc_eval.cases.parse import load_cases as load_cases
    from fc_eval.domains.load import load_domain as load_domain
    from fc_eval.domains.protocol import Domain as Domain
    from fc_eval.domains.protocol import Sandbox as Sandbox
    from fc_eval.domains.protocol import Toolset as Toolset
    from fc_eval.errors import FcEvalError as FcEvalError
    from fc_eval.errors import ToolError as ToolError
    from fc_eval.files import read_raw_run as read_raw_run
    from fc_eval.judge.verdict import judge_case as judge_case
    from fc_eval.records.calls import Call as Call
    from fc_eval.records.case import Case as Case
    from fc_eval.records.run import Trace as Trace
    from fc_eval.records.verdict import Judgement as Judgement
    from fc_eval.report.build import build_report as build_report

_HOMES = {
    "Agent": "agent.task",
    "Call": "records.calls",
    "Case": "records.case",
    "Domain": "domains.protocol",
    "FcEvalError": "errors",
    "Judgement": "records.verdict",
    "Sandbox": "domains.protocol",
    "ToolError": "errors",
    "Toolset": "domains.protocol",
    "Trace": "records.run",
    "build_report": "report.build",
    "judge_case": "judge.verdict",
    "load_cases": "cases.parse",
    "load_domain": "domains.load",
    "read_raw_run": "files",
}

__all__ = [
    "Agent",
    "Call",
    "Case",
    "Domain",
    "FcEvalError",
    "Judgement",
    "Sandbox",
    "ToolError",
    "Toolset",
    "Trace",
    "build_report",
    "judge_case",
    "load_cases",
    "load_domain",
    "read_raw_run",
]


def __getattr__(name: str) -> Any:
    if name == "bfcl":
        return import_module("fc_eval.bfcl")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"fc_eval.{home}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
