"""Whoever calls a tool: it is checked, run in the sandbox, recorded."""

from __future__ import annotations

import asyncio
import datetime
import math
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from fc_eval.agent.protocol import AgentStoppedError
from fc_eval.agent.task import MAX_CALLS, Task, merged_usage
from fc_eval.errors import ToolError
from fc_eval.records.calls import ToolFault, Usage
from fc_eval.records.run import ErrorKind, Status
from tests.agent.support import EchoSandbox, run


def test_a_call_runs_in_the_sandbox_and_is_recorded() -> None:
    sandbox = EchoSandbox()
    seen: list[Any] = []

    trace = run(
        lambda task: seen.append(task.call("get_order", {"order_id": "W1"})), sandbox=sandbox
    )

    assert seen == [{"tool": "get_order", "arguments": {"order_id": "W1"}}]
    assert sandbox.seen == [("get_order", {"order_id": "W1"})]
    (call,) = trace.calls
    assert (call.tool, call.arguments, call.result) == ("get_order", {"order_id": "W1"}, seen[0])
    assert (call.index, call.step, call.error, call.arguments_raw) == (0, 1, None, None)


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        pytest.param("find_order", {}, "UNKNOWN_TOOL", id="a-tool-that-does-not-exist"),
        pytest.param("", {}, "UNKNOWN_TOOL", id="no-name"),
        pytest.param(None, {}, "UNKNOWN_TOOL", id="a-name-that-is-no-text"),
        pytest.param("find_order", "{", "UNKNOWN_TOOL", id="unknown-comes-before-unreadable"),
        pytest.param("get_order", "{", "INVALID_ARGUMENTS", id="arguments-that-nobody-can-read"),
        pytest.param("get_order", ["W1"], "INVALID_ARGUMENTS", id="arguments-that-are-no-object"),
        pytest.param("get_order", {1: 2}, "INVALID_ARGUMENTS", id="a-key-that-is-no-text"),
        pytest.param("get_order", {"order_id": {1}}, "INVALID_ARGUMENTS", id="no-json-value"),
        pytest.param("get_order", {}, "INVALID_ARGUMENTS", id="a-parameter-is-missing"),
        pytest.param("get_order", {"order_id": 1}, "INVALID_ARGUMENTS", id="a-wrong-type"),
        pytest.param(
            "get_order", {"order_id": "W1", "x": 1}, "INVALID_ARGUMENTS", id="one-too-many"
        ),
    ],
)
def test_a_faulty_call_is_answered_before_the_sandbox_is_asked(
    name: Any, arguments: Any, code: str
) -> None:
    sandbox = EchoSandbox()
    seen: list[Any] = []

    trace = run(lambda task: seen.append(task.call(name, arguments)), sandbox=sandbox)

    assert sandbox.seen == []
    assert seen[0]["error"]["code"] == code
    assert trace.status is Status.COMPLETED
    assert trace.calls[0].error is not None
    assert trace.calls[0].result == seen[0]


def test_json_text_and_no_arguments_are_read_as_a_model_writes_them() -> None:
    def agent(task: Task) -> None:
        task.call("get_order", '{"order_id": "W1"}')
        task.call("list_reasons")

    calls = run(agent).calls

    assert [call.arguments for call in calls] == [{"order_id": "W1"}, {}]
    assert [call.error for call in calls] == [None, None]
    assert [call.flags for call in calls] == [(), ()]


def test_a_tool_error_goes_back_to_the_agent() -> None:
    sandbox = EchoSandbox({"get_order": ToolError("NOT_FOUND", "no order W1")})
    seen: list[Any] = []

    trace = run(
        lambda task: seen.append(task.call("get_order", {"order_id": "W1"})), sandbox=sandbox
    )

    assert seen == [{"error": {"code": "NOT_FOUND", "message": "no order W1"}}]
    assert trace.calls[0].error == ToolFault(code="NOT_FOUND", message="no order W1")
    assert trace.status is Status.COMPLETED


def _endless() -> list[Any]:
    endless: list[Any] = []
    endless.append(endless)
    return endless


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(ValueError("broken"), id="an-exception"),
        pytest.param(SystemExit(3), id="an-exit"),
        pytest.param({"W1"}, id="a-set"),
        pytest.param(datetime.date(2026, 1, 1), id="a-date"),
        pytest.param(math.nan, id="not-a-number"),
        pytest.param(math.inf, id="infinity"),
        pytest.param({1: "W1"}, id="a-key-that-is-no-text"),
        pytest.param(_endless(), id="a-list-that-holds-itself"),
        pytest.param(b"W1", id="bytes"),
    ],
)
def test_a_broken_sandbox_ends_the_run_even_if_the_agent_swallows_it(answer: Any) -> None:
    def agent(task: Task) -> str:
        for _ in range(2):
            with pytest.raises(AgentStoppedError):
                task.call("list_reasons", {})
        return "all is well"

    trace = run(agent, sandbox=EchoSandbox({"list_reasons": answer}))

    assert trace.status is Status.AGENT_ERROR
    assert trace.error is not None
    assert (trace.error.kind, trace.error.code) == (ErrorKind.AGENT_EXCEPTION, "exception")
    assert len(trace.calls) == 1


def test_results_and_arguments_are_copies() -> None:
    answer = {"items": ["a"]}
    arguments = {"order_id": "W1"}

    class Meddler(EchoSandbox):
        def call(self, name: str, arguments: Any) -> Any:
            arguments.clear()
            return answer

    def agent(task: Task) -> None:
        result = task.call("get_order", arguments)
        result["items"].append("b")
        answer["items"].append("c")
        arguments["order_id"] = "W2"

    (call,) = run(agent, sandbox=Meddler()).calls

    assert call.arguments == {"order_id": "W1"}
    assert call.result == {"items": ["a"]}


def test_a_tuple_and_subclasses_become_plain_json() -> None:
    class Text(str):
        pass

    sandbox = EchoSandbox({"list_reasons": (Text("a"), 1, True, None, 1.5)})

    (call,) = run(lambda task: task.call("list_reasons") and None, sandbox=sandbox).calls

    assert call.result == ["a", 1, True, None, 1.5]
    assert type(call.result[0]) is str


def test_calls_of_many_threads_are_all_recorded() -> None:
    def agent(task: Task) -> None:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda n: task.call("get_order", {"order_id": f"W{n}"}), range(20)))

    trace = run(agent)

    assert [call.index for call in trace.calls] == list(range(20))
    assert {call.arguments["order_id"] for call in trace.calls if call.arguments} == {
        f"W{n}" for n in range(20)
    }


def test_an_endless_loop_of_calls_comes_to_an_end() -> None:
    def agent(task: Task) -> None:
        while True:
            task.call("list_reasons")

    trace = run(agent)

    assert len(trace.calls) == MAX_CALLS
    assert trace.error is not None
    assert trace.error.kind is ErrorKind.MAX_STEPS


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_the_sandbox_runs_in_the_executor_that_is_given(kind: str) -> None:
    threads: set[str] = set()

    class Watching(EchoSandbox):
        def call(self, name: str, arguments: Any) -> Any:
            threads.add(threading.current_thread().name)
            return super().call(name, arguments)

    async def asynchronous(task: Task) -> None:
        await task.acall("list_reasons")
        task.call("list_reasons")

    def synchronous(task: Task) -> None:
        task.call("list_reasons")
        # Not on the loop of the run: it must not wait for the thread that it stands in.
        asyncio.run(task.acall("list_reasons"))

    agent = synchronous if kind == "sync" else asynchronous
    with ThreadPoolExecutor(1, thread_name_prefix="lent") as executor:
        trace = run(agent, sandbox=Watching(), executor=executor)

    assert trace.error is None
    assert len(trace.calls) == 2
    assert all(name.startswith("lent") for name in threads)


@pytest.mark.parametrize(
    ("usages", "total"),
    [
        pytest.param([], None, id="no-answers"),
        pytest.param([None, None], None, id="nothing-said-is-unknown-and-not-zero"),
        pytest.param(
            [Usage(prompt_tokens=1, completion_tokens=2, total_tokens=3)] * 2,
            Usage(prompt_tokens=2, completion_tokens=4, total_tokens=6),
            id="sums",
        ),
        pytest.param(
            [Usage(prompt_tokens=1, completion_tokens=2, total_tokens=3), None],
            Usage(prompt_tokens=1, completion_tokens=2, total_tokens=3, partial=True),
            id="one-answer-without-counts-makes-it-partial",
        ),
        pytest.param(
            [Usage(prompt_tokens=1), Usage(prompt_tokens=1, completion_tokens=5)],
            Usage(prompt_tokens=2, completion_tokens=5, partial=True),
            id="one-count-missing-makes-it-partial",
        ),
    ],
)
def test_merged_usage(usages: list[Usage | None], total: Usage | None) -> None:
    assert merged_usage(usages) == total
