"""Playing odd lines: a domain over their tools, a profile with short limits, one run of all."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from fc_eval.agent.loop import ModelAgent
from fc_eval.agent.profile import ModelProfile
from fc_eval.agent.run import run_case
from fc_eval.client.clock import SystemClock
from fc_eval.client.openai import OpenAIClient, Timing
from fc_eval.domains.protocol import Domain, Tool, ToolKind, Toolset
from fc_eval.records.case import Case, Context, Dimension, Golden, GoldenCall
from fc_eval.records.codec import JsonValue
from fc_eval.records.run import Trace
from tests.client.odd_server import Script, load_tools, serving


class EchoSandbox:
    """Answers every call with what it was called with."""

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> JsonValue:
        return {"tool": name, "arguments": dict(arguments)}


def odd_domain() -> Domain:
    tools = [
        Tool(name=item["function"]["name"], kind=ToolKind.READ, function=item["function"])
        for item in load_tools()
    ]
    return Domain(toolset=Toolset(tools), sandbox_factory=lambda case: EchoSandbox())


def odd_case(line: Mapping[str, Any]) -> Case:
    calls = tuple(GoldenCall(tool=want["name"], params=want["args"]) for want in line["want"])
    return Case(
        id=f"odd-{line['key']}",
        dimension=Dimension.D1,
        category=line["class"],
        instruction=line["prompt"],
        context=Context(db_fixture="standard", notes=line["key"]),
        golden=Golden(calls=calls, order_sensitive=bool(calls), allowed_extra=()),
        negative=not calls,
        skip=False,
        skip_reason=None,
    )


def odd_profile(slug: str, base_url: str, **changes: Any) -> ModelProfile:
    settings = {"timeout_s": 30.0, "connect_timeout_s": 5.0, **changes}
    return ModelProfile(name="odd", slug=slug, base_url=base_url, **settings)


async def quick_sleep(seconds: float) -> None:
    """A sleep that keeps the order of waits and takes a fiftieth of them."""
    await asyncio.sleep(seconds / 50)


def quick_timing() -> Timing:
    return Timing(clock=SystemClock(), sleep=quick_sleep, random=random.Random(7).random)


@dataclass(frozen=True)
class Played:
    """One line as it was played: what was asked of it, what came of it."""

    line: Mapping[str, Any]
    case: Case
    trace: Trace
    script: Script


def _is_silent(line: Mapping[str, Any]) -> bool:
    steps = line.get("sequence") or [line["http"]]
    return any(step.get("mode") in ("hang", "drip") for step in steps)


def _time_for(line: Mapping[str, Any]) -> float:
    """A short limit where silence is what the line is about, else one that a slow machine keeps."""
    return 1.5 if _is_silent(line) else 30.0


async def play(lines: Mapping[str, Mapping[str, Any]]) -> dict[str, Played]:
    """Run the lines at once, each with a client of its own."""
    scripts = {f"odd/{key}": Script.of(line) for key, line in lines.items()}
    domain = odd_domain()
    async with (
        serving(scripts) as server,
        httpx.AsyncClient(trust_env=False, timeout=None) as http,
    ):
        slots = asyncio.Semaphore(12)

        async def one(key: str, line: Mapping[str, Any]) -> Played:
            settings = {"timeout_s": _time_for(line), **line.get("profile", {})}
            profile = odd_profile(f"odd/{key}", server.base_url, **settings)
            client = OpenAIClient(http, profile, base_url=server.base_url, timing=quick_timing())
            agent, case = ModelAgent(client, profile), odd_case(line)
            async with contextlib.nullcontext() if _is_silent(line) else slots:
                trace = await run_case(case, domain=domain, agent=agent, clock=SystemClock())
            return Played(line=line, case=case, trace=trace, script=scripts[f"odd/{key}"])

        played = await asyncio.gather(*(one(key, line) for key, line in lines.items()))
    return {item.line["key"]: item for item in played}
