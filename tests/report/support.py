"""A small world to make runs and reports in: two tools, and traces in one line each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fc_eval.domains.protocol import Domain, Tool, ToolKind, Toolset
from fc_eval.records.calls import Call, ToolFault, Usage
from fc_eval.records.case import Case, Context, Dimension, Golden, GoldenCall
from fc_eval.records.run import (
    ErrorKind,
    Harness,
    InputHashes,
    RawRunV1,
    RunError,
    Selection,
    Status,
    Trace,
)
from fc_eval.report.inputs import hash_inputs

MODEL: dict[str, Any] = {"name": "small", "slug": "acme/small", "temperature": 0.0}


class NoSandbox:
    """A sandbox that nobody calls: traces are written, not run."""

    def call(self, name: str, arguments: Mapping[str, Any]) -> None:
        raise AssertionError(f"{name} was called")


def tool(name: str, kind: ToolKind, **parameters: str) -> Tool:
    """A tool whose parameters are all required and of the JSON types named."""
    schema = {
        "type": "object",
        "properties": {key: {"type": kind_of} for key, kind_of in parameters.items()},
        "required": list(parameters),
        "additionalProperties": False,
    }
    return Tool(name=name, kind=kind, function={"name": name, "parameters": schema})


DOMAIN = Domain(
    toolset=Toolset(
        [
            tool("find", ToolKind.READ, key="string"),
            tool("ask", ToolKind.REQUEST, key="string"),
            tool("settle", ToolKind.CONFIRM, action_id="string"),
        ]
    ),
    sandbox_factory=lambda case: NoSandbox(),
    system_prompt="Help.",
)


def make_case(
    case_id: str,
    *calls: tuple[str, Mapping[str, Any]],
    dimension: Dimension = Dimension.D1,
    negative: bool = False,
    skip: bool = False,
) -> Case:
    """A case that asks for *calls*, by default for one `find`."""
    wanted = calls or (() if negative else (("find", {"key": "a"}),))
    return Case(
        id=case_id,
        dimension=dimension,
        category="lookup",
        instruction=f"Please do {case_id}.",
        context=Context(db_fixture="standard", notes="none"),
        golden=Golden(
            calls=tuple(GoldenCall(tool=name, params=params) for name, params in wanted),
            order_sensitive=False,
            allowed_extra=(),
        ),
        negative=negative,
        skip=skip,
        skip_reason="not yet" if skip else None,
    )


def make_call(
    name: str | None,
    arguments: Mapping[str, Any] | None,
    *,
    index: int = 0,
    result: Any = None,
    error: str | None = None,
    raw: str | None = None,
    flags: Sequence[str] = (),
) -> Call:
    """A call as it was made and answered."""
    return Call(
        index=index,
        step=index + 1,
        call_id=f"call_{index}",
        tool=name,
        arguments=arguments,
        arguments_raw=raw,
        parse_error="unreadable" if arguments is None else None,
        result={"error": {"code": error, "message": "no"}} if error else result,
        error=ToolFault(code=error, message="no") if error else None,
        flags=tuple(flags),
    )


def passing(case_id: str, repeat: int = 1, **fields: Any) -> Trace:
    """A trace that satisfies the default case."""
    fields.setdefault("usage", Usage(prompt_tokens=8, completion_tokens=2, total_tokens=10))
    return Trace(
        case_id=case_id,
        repeat=repeat,
        status=Status.COMPLETED,
        calls=(make_call("find", {"key": "a"}, result={"ok": True}),),
        steps=2,
        elapsed_ms=500.0,
        **fields,
    )


def failing(case_id: str, repeat: int = 1, *, key: str = "b", **fields: Any) -> Trace:
    """A trace that looks for the wrong thing."""
    return Trace(
        case_id=case_id,
        repeat=repeat,
        status=Status.COMPLETED,
        calls=(make_call("find", {"key": key}, result={"ok": True}),),
        steps=2,
        elapsed_ms=500.0,
        **fields,
    )


def broken(case_id: str, repeat: int = 1, *, code: str = "timeout") -> Trace:
    """A trace that ended in an agent error."""
    return Trace(
        case_id=case_id,
        repeat=repeat,
        status=Status.AGENT_ERROR,
        error=RunError(kind=ErrorKind.API_ERROR, code=code, message="no answer"),
    )


def skipped(case_id: str) -> Trace:
    """A run that was not made."""
    return Trace(case_id=case_id, status=Status.SKIPPED)


def make_run(
    cases: Sequence[Case],
    traces: Sequence[Trace],
    *,
    run_id: str = "r1",
    repeats: int = 1,
    complete: bool = True,
    suite_size: int | None = None,
    model: Mapping[str, Any] = MODEL,
    hashes: InputHashes | None = None,
) -> RawRunV1:
    """A run of all *cases*."""
    return RawRunV1(
        run_id=run_id,
        started_at="2026-01-31T12:00:00Z",
        finished_at="2026-01-31T12:01:00Z",
        complete=complete,
        harness=Harness(name="pytest-fc-eval", version="0", python="3", pytest="9"),
        model=model,
        input_hashes=hashes or hash_inputs(cases, DOMAIN, "m"),
        selection=Selection(
            case_ids=tuple(case.id for case in cases),
            suite_size=len(cases) if suite_size is None else suite_size,
            case_digests={case.id: case.digest for case in cases},
        ),
        repeats=repeats,
        cases=tuple(traces),
    )
