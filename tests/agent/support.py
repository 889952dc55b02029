"""A small world for agents: three tools, a sandbox that echoes, a model that follows a script."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fc_eval.agent.arguments import read_arguments
from fc_eval.agent.profile import ModelProfile
from fc_eval.agent.protocol import EndpointError, Message, ReadCall, Reply
from fc_eval.agent.run import run_case
from fc_eval.agent.task import Agent
from fc_eval.domains.protocol import Domain, Tool, ToolKind, Toolset
from fc_eval.records.calls import Usage
from fc_eval.records.case import Case, Context, Dimension, Golden
from fc_eval.records.codec import JsonValue
from fc_eval.records.run import Exchange, Trace

TOOLSET = Toolset(
    [
        Tool(
            name="get_order",
            kind=ToolKind.READ,
            function={
                "name": "get_order",
                "description": "Look up one order.",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "order_id": {"type": "string"},
                        "verbose": {"type": "boolean"},
                    },
                    "required": ["order_id"],
                    "additionalProperties": False,
                },
            },
        ),
        Tool(
            name="request_cancel",
            kind=ToolKind.REQUEST,
            function={
                "name": "request_cancel",
                "parameters": {
                    "type": "object",
                    "properties": {"order_id": {"type": "string"}},
                    "required": ["order_id"],
                },
            },
        ),
        Tool(name="list_reasons", kind=ToolKind.READ, function={"name": "list_reasons"}),
    ]
)


class FakeClock:
    """Time that only moves when a test moves it."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> str:
        return f"2026-01-01T00:00:{self.seconds:06.3f}Z"

    def monotonic(self) -> float:
        return self.seconds

    def epoch(self) -> float:
        return 1_767_225_600.0 + self.seconds

    async def sleep(self, seconds: float) -> None:
        self.seconds += seconds
        await asyncio.sleep(0)


@dataclass
class EchoSandbox:
    """Answers with the call; *answers* gives other answers by tool, or raises them."""

    answers: Mapping[str, Any] = field(default_factory=dict)
    seen: list[tuple[str, dict[str, JsonValue]]] = field(default_factory=list)

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> JsonValue:
        self.seen.append((name, dict(arguments)))
        answer = self.answers.get(name, {"tool": name, "arguments": dict(arguments)})
        if isinstance(answer, BaseException):
            raise answer
        return answer


def make_case(case_id: str = "one", instruction: str = "Where is W1?") -> Case:
    return Case(
        id=case_id,
        dimension=Dimension.D1,
        category="lookup",
        instruction=instruction,
        context=Context(db_fixture="standard", notes="-"),
        golden=Golden(calls=(), order_sensitive=False),
        negative=False,
        skip=False,
        skip_reason=None,
    )


def make_domain(sandbox: EchoSandbox | None = None) -> Domain:
    return Domain(
        toolset=TOOLSET,
        sandbox_factory=lambda case: sandbox or EchoSandbox(),
        system_prompt="You help.",
    )


def run(agent: Agent, *, sandbox: EchoSandbox | None = None, **options: Any) -> Trace:
    """What *agent* does on a case of this world."""
    settings = {"clock": FakeClock(), "domain": make_domain(sandbox), **options}
    return asyncio.run(run_case(make_case(), agent=agent, **settings))


def profile(**changes: Any) -> ModelProfile:
    return ModelProfile(name="m", slug="m", base_url="http://127.0.0.1:1/v1", **changes)


def wire_call(name: Any, arguments: Any = "{}", call_id: Any = "c1", **more: Any) -> ReadCall:
    """A call as the wire reader gives it."""
    read = read_arguments(arguments)
    function = {"name": name, "arguments": arguments}
    return ReadCall(
        call_id=call_id,
        tool=name,
        arguments=read.arguments,
        arguments_raw=read.arguments_raw,
        parse_error=read.parse_error,
        flags=read.flags,
        wire={"id": call_id, "type": "function", "function": function, **more},
    )


def reply(text: str = "", *calls: ReadCall, **more: Any) -> Reply:
    """A reply with a text, or with calls."""
    return Reply(
        text=text,
        raw_text=text,
        calls=calls,
        usage=Usage(prompt_tokens=10, completion_tokens=2, total_tokens=12),
        exchange=Exchange(step=0, status=200),
        **more,
    )


class ScriptedClient:
    """A model that gives the replies of a script, in order, and keeps what it was sent."""

    def __init__(self, *script: Reply | EndpointError | Callable[[], Reply]) -> None:
        self._script = list(script)
        self.sent: list[list[Message]] = []
        self.fields: list[Mapping[str, JsonValue]] = []

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        fields: Mapping[str, JsonValue],
        step: int = 1,
        deadline: float | None = None,
    ) -> Reply:
        # What is sent must be JSON, whatever the model said before.
        self.sent.append(json.loads(json.dumps(messages)))
        self.fields.append(fields)
        item = self._script.pop(0) if len(self._script) > 1 else self._script[0]
        if isinstance(item, EndpointError):
            raise item
        return item if isinstance(item, Reply) else item()
