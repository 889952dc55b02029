"""The loop asks, runs, tells and asks again; every call is answered, and all of it is recorded."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from fc_eval.agent.loop import MAX_CALLS_PER_MESSAGE, ModelAgent
from fc_eval.agent.profile import ToolMode
from fc_eval.agent.protocol import EndpointError, ReadCall
from fc_eval.agent.run import run_case
from fc_eval.records.flags import Flag
from fc_eval.records.run import ErrorKind, Exchange, RunError, Status, Trace
from tests.agent.support import (
    EchoSandbox,
    FakeClock,
    ScriptedClient,
    make_case,
    make_domain,
    profile,
    reply,
    run,
    wire_call,
)

ORDER = '{"order_id": "W1"}'


def _run(client: ScriptedClient, **options: Any) -> Trace:
    settings = {name: options.pop(name) for name in ("max_steps", "tool_mode") if name in options}
    return run(ModelAgent(client, profile(**settings)), **options)


def test_a_call_its_result_and_an_answer() -> None:
    client = ScriptedClient(reply("", wire_call("get_order", ORDER)), reply("It is here."))

    trace = _run(client)

    assert (trace.status, trace.final_text, trace.steps) == (Status.COMPLETED, "It is here.", 2)
    start = [
        {"role": "system", "content": "You help."},
        {"role": "user", "content": "Where is W1?"},
    ]
    assert client.sent[0] == start
    assert client.sent[1][:2] == start
    assistant, result = client.sent[1][2:]
    assert assistant["tool_calls"][0]["id"] == result["tool_call_id"] == "c1"
    assert json.loads(result["content"]) == trace.calls[0].result
    assert [item.step for item in trace.exchanges] == [1, 2]
    assert [len(item.sent) for item in trace.exchanges] == [2, 2]
    assert trace.usage is not None
    assert trace.usage.total_tokens == 24


def test_a_conversation_may_be_given() -> None:
    client = ScriptedClient(reply("ok"))
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]

    _run(client, messages=messages)

    assert client.sent == [messages]


def test_many_calls_in_one_message_run_in_order() -> None:
    calls = [
        wire_call("get_order", '{"order_id": "W1"}', "a"),
        wire_call("get_order", "{", "b"),
        wire_call("find", "{}", "c"),
        wire_call("get_order", '{"order_id": "W2"}', "d"),
    ]
    client = ScriptedClient(reply("", *calls), reply("ok"))
    sandbox = EchoSandbox()

    trace = _run(client, sandbox=sandbox)

    assert [seen[1]["order_id"] for seen in sandbox.seen] == ["W1", "W2"]
    assert [call.step for call in trace.calls] == [1, 1, 1, 1]
    codes = [call.error.code if call.error else None for call in trace.calls]
    assert codes == [None, "INVALID_ARGUMENTS", "UNKNOWN_TOOL", None]
    assert [item["tool_call_id"] for item in client.sent[1][3:]] == ["a", "b", "c", "d"]


def _ids(trace: Trace) -> list[str | None]:
    return [call.call_id for call in trace.calls]


@pytest.mark.parametrize(
    "ids",
    [
        pytest.param([None, None], id="missing"),
        pytest.param(["same", "same"], id="twice-in-one-message"),
    ],
)
def test_ids_are_unique_and_nine_letters_or_digits_where_they_are_made(ids: list[Any]) -> None:
    calls = [wire_call("get_order", ORDER, call_id) for call_id in ids]
    client = ScriptedClient(reply("", *calls), reply("", *calls), reply("ok"))

    first, again = (
        _run(client),
        _run(ScriptedClient(reply("", *calls), reply("", *calls), reply(""))),
    )

    made = [call_id for call_id in _ids(first) if call_id != "same"]
    assert len(set(_ids(first))) == 4
    assert all(len(call_id or "") == 9 and (call_id or "").isalnum() for call_id in made)
    assert _ids(first) == _ids(again)
    duplicates = [Flag.ID_DUPLICATE in call.flags for call in first.calls]
    assert duplicates == [False, *([ids[0] is not None] * 3)]


def test_a_model_without_an_end_comes_to_one() -> None:
    client = ScriptedClient(reply("", wire_call("get_order", ORDER)))

    trace = _run(client, max_steps=3)

    assert trace.error is not None
    assert (trace.error.kind, trace.error.code) == (ErrorKind.MAX_STEPS, "max_steps")
    assert (len(client.sent), len(trace.calls), trace.steps) == (3, 3, 3)


def test_a_message_with_too_many_calls() -> None:
    calls = [wire_call("get_order", ORDER, f"c{n}") for n in range(MAX_CALLS_PER_MESSAGE + 6)]
    sandbox = EchoSandbox()

    trace = _run(ScriptedClient(reply("", *calls)), sandbox=sandbox)

    assert trace.error is not None
    assert trace.error.kind is ErrorKind.MAX_STEPS
    assert len(sandbox.seen) == MAX_CALLS_PER_MESSAGE
    assert len(trace.calls) == len(calls)


def test_a_broken_generation_ends_the_conversation() -> None:
    broken = ReadCall(tool=None, arguments=None, arguments_raw="get_order{", parse_error="broken")
    client = ScriptedClient(reply("", broken, broken=True))

    trace = _run(client)

    assert (trace.status, len(client.sent)) == (Status.COMPLETED, 1)
    (call,) = trace.calls
    assert (call.tool, call.arguments, call.arguments_raw) == (None, None, "get_order{")


def test_an_endpoint_that_fails_in_the_middle_leaves_what_was_before() -> None:
    error = EndpointError(
        RunError(kind=ErrorKind.API_ERROR, code="api_error", message="gone"),
        exchange=Exchange(step=2, status=500),
    )
    client = ScriptedClient(reply("", wire_call("get_order", ORDER)), error)

    trace = _run(client)

    assert trace.error == error.error
    assert len(trace.calls) == 1
    assert [len(item.sent) for item in trace.exchanges] == [2, 2]
    assert trace.steps == 1


def test_what_a_reply_notes_is_on_the_trace_once() -> None:
    call = wire_call("get_order", ORDER)
    noted = {"flags": (Flag.USAGE_UNKNOWN,), "warnings": ("another model",)}
    client = ScriptedClient(reply("", call, **noted), reply("I will check.", **noted))

    trace = _run(client)

    assert trace.flags == ("usage_unknown", "narrated_intent")
    assert trace.warnings == ("another model",)


def test_one_answer_records_calls_and_runs_none() -> None:
    client = ScriptedClient(reply("a", wire_call("get_order", ORDER), wire_call("find", "{", None)))
    sandbox = EchoSandbox()

    trace = run(ModelAgent(client, profile()).answer_once, sandbox=sandbox)

    assert (len(client.sent), sandbox.seen, trace.final_text) == (1, [], "a")
    assert [(call.tool, call.arguments) for call in trace.calls] == [
        ("get_order", {"order_id": "W1"}),
        ("find", None),
    ]
    assert [call.result for call in trace.calls] == [None, None]


def test_tools_in_the_prompt() -> None:
    client = ScriptedClient(
        reply('{"name": "get_order", "arguments": {"order_id": "W1"}}'), reply("It is here.")
    )

    trace = _run(client, tool_mode=ToolMode.PROMPT)

    assert "get_order" in client.sent[0][0]["content"]
    assert "tools" not in client.fields[0]
    assert [call.arguments for call in trace.calls] == [{"order_id": "W1"}]
    assert trace.calls[0].flags == ()
    assert trace.final_text == "It is here."


def test_a_cut_call_in_the_prompt_mode_is_noted() -> None:
    client = ScriptedClient(
        reply('{"name": "get_order", "arg', finish_reason="length"), reply("It is here.")
    )

    trace = _run(client, tool_mode=ToolMode.PROMPT)

    assert Flag.FINISH_LENGTH in trace.calls[0].flags


def test_ids_of_a_given_conversation_are_taken() -> None:
    earlier = {"id": "c1", "type": "function", "function": {"name": "t", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": None, "tool_calls": [earlier]},
        {"role": "tool", "tool_call_id": "c1", "content": "{}"},
    ]

    client = ScriptedClient(reply("", wire_call("get_order", ORDER)), reply("ok"))

    trace = _run(client, messages=messages)

    assert trace.calls[0].call_id != "c1"
    assert Flag.ID_DUPLICATE in trace.calls[0].flags


def test_the_cases_deadline_reaches_the_client() -> None:
    deadlines: list[float | None] = []

    class Watching(ScriptedClient):
        async def complete(self, messages: Any, **options: Any) -> Any:
            deadlines.append(options["deadline"])
            return await super().complete(messages, **options)

    clock = FakeClock()
    clock.seconds = 50
    agent = ModelAgent(Watching(reply("ok")), profile())
    asyncio.run(
        run_case(make_case(), domain=make_domain(), agent=agent, clock=clock, deadline_s=30)
    )

    assert deadlines == [80]
