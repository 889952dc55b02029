"""Every end of an agent is a trace."""

from __future__ import annotations

import asyncio
import functools
import re
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from fc_eval.agent.protocol import AgentStoppedError, EndpointError
from fc_eval.agent.run import run_case
from fc_eval.agent.task import Task
from fc_eval.domains.protocol import Domain
from fc_eval.records.run import Attempt, ErrorKind, Exchange, RunError, Status, Trace
from tests.agent.support import TOOLSET, FakeClock, make_case, make_domain, run


def _sync(task: Task) -> str:
    task.call("list_reasons")
    return "done"


async def _async(task: Task) -> str:
    await task.acall("list_reasons")
    return "done"


class _Callable:
    async def __call__(self, task: Task) -> str:
        return await _async(task)


@pytest.mark.parametrize(
    "agent",
    [
        pytest.param(_sync, id="a-function"),
        pytest.param(_async, id="a-coroutine-function"),
        pytest.param(_Callable(), id="an-object-with-an-async-call"),
        pytest.param(lambda task: _async(task), id="a-function-that-returns-an-awaitable"),
        pytest.param(functools.partial(_async), id="a-partial"),
    ],
)
def test_agents_of_every_kind(agent: Any) -> None:
    trace = run(agent)

    assert (trace.status, trace.error, trace.final_text) == (Status.COMPLETED, None, "done")
    assert [call.tool for call in trace.calls] == ["list_reasons"]
    assert Trace.from_dict(trace.to_dict()) == trace


def test_a_sync_agent_has_a_thread_of_its_own() -> None:
    names: list[str] = []

    run(lambda task: names.append(threading.current_thread().name))

    assert names[0] != threading.main_thread().name


def test_an_agent_may_say_nothing() -> None:
    assert run(lambda task: None).final_text is None


def without_place(message: str) -> str:
    """A message without where it was raised: file and line, never the folder."""
    return re.sub(r" \(at test_run\.py:\d+ in \w+\)$", "", message)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        pytest.param(ValueError("no\nluck"), "ValueError: no luck", id="in-one-line"),
        pytest.param(KeyError(), "KeyError", id="without-a-text"),
        pytest.param(StopIteration(1), "RuntimeError: the agent raised StopIteration", id="stop"),
        pytest.param(SystemExit(2), "SystemExit: 2", id="an-exit"),
        pytest.param(TimeoutError("mine"), "TimeoutError: mine", id="a-time-out-of-its-own"),
        pytest.param(asyncio.CancelledError(), "CancelledError", id="a-cancellation-of-its-own"),
    ],
)
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_an_exception_ends_the_run_with_what_was_recorded(
    error: BaseException, text: str, kind: str
) -> None:
    def sync(task: Task) -> None:
        task.call("list_reasons")
        raise error

    async def asynchronous(task: Task) -> None:
        task.call("list_reasons")
        if isinstance(error, StopIteration):
            raise RuntimeError("the agent raised StopIteration")
        raise error

    trace = run(sync if kind == "sync" else asynchronous)

    assert trace.status is Status.AGENT_ERROR
    assert trace.error is not None
    said = without_place(trace.error.message)
    assert (trace.error.kind, said) == (ErrorKind.AGENT_EXCEPTION, text)
    assert len(trace.calls) == 1


def test_an_exception_that_cannot_be_shown() -> None:
    class RudeError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    def agent(task: Task) -> None:
        raise RudeError

    trace = run(agent)

    assert trace.error is not None
    assert without_place(trace.error.message) == "RudeError: (its text can't be had)"


def test_a_result_that_is_no_text() -> None:
    agent: Any = lambda task: ["done"]  # noqa: E731 - typed as what it must not be

    trace = run(agent)

    assert trace.error is not None
    assert "returned a list" in trace.error.message


def test_a_sandbox_that_cannot_be_made() -> None:
    def broken(case: Any) -> Any:
        raise OSError("no fixtures")

    trace = run(_sync, domain=Domain(toolset=TOOLSET, sandbox_factory=broken))

    assert trace.error is not None
    assert without_place(trace.error.message) == "OSError: no fixtures"


def test_secrets_leave_the_texts_of_exceptions() -> None:
    def agent(task: Task) -> None:
        raise ValueError("bad key sk-1")

    redact: Callable[[str], str] = lambda text: text.replace("sk-1", "***")  # noqa: E731

    trace = run(agent, redact=redact)

    assert trace.error is not None
    assert without_place(trace.error.message) == "ValueError: bad key ***"


def test_an_endpoint_out_of_reach_leaves_its_tries() -> None:
    error = RunError(kind=ErrorKind.API_ERROR, code="auth", message="no", http_status=401)
    attempts = (Attempt(step=1, number=1, status=401),)

    async def agent(task: Task) -> None:
        exchange = Exchange(step=1, status=401)
        raise EndpointError(error, attempts=attempts, exchange=exchange, flags=("odd",))

    trace = run(agent)

    assert (trace.error, trace.attempts, trace.flags) == (error, attempts, ("odd",))
    assert [item.status for item in trace.exchanges] == [401]
    assert trace.steps == 0


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_run_that_takes_too_long(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fc_eval.agent.run._GRACE_S", 0.0)
    late: list[BaseException] = []
    woken = threading.Event()

    def sync(task: Task) -> None:
        task.call("list_reasons")
        woken.wait(5)
        try:
            task.call("list_reasons")
        except AgentStoppedError as error:
            late.append(error)

    async def asynchronous(task: Task) -> None:
        task.call("list_reasons")
        await asyncio.sleep(5)

    trace = run(sync if kind == "sync" else asynchronous, deadline_s=0.2)
    woken.set()

    assert trace.error is not None
    assert (trace.error.kind, trace.error.code) == (ErrorKind.TIMEOUT, "timeout")
    assert len(trace.calls) == 1
    for _ in range(100):
        if kind == "async" or late:
            break
        time.sleep(0.02)
    assert len(late) == (1 if kind == "sync" else 0)
    assert len(trace.calls) == 1


def test_a_cancelled_run_is_cancelled() -> None:
    async def agent(task: Task) -> None:
        await asyncio.sleep(5)

    async def main() -> None:
        running = asyncio.create_task(
            run_case(make_case(), domain=make_domain(), agent=agent, clock=FakeClock())
        )
        await asyncio.sleep(0.05)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(main())


def test_the_user_can_interrupt() -> None:
    async def agent(task: Task) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(agent)


def test_an_exception_says_where_the_project_raised_it() -> None:
    def agent(task: Task) -> None:
        raise KeyError("x")

    error = run(agent).error

    assert error is not None
    assert re.fullmatch(r"KeyError: 'x' \(at test_run\.py:\d+ in agent\)", error.message)
