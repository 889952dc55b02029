"""One case, one agent, one trace: what the agent did, whatever happens to it.

`run_case` gives an agent its task and a time to finish, and turns every end into a trace: an
answer, an endpoint out of reach, an exception, a time-out. It judges nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

from fc_eval.agent.protocol import AgentStoppedError, Clock, EndpointError, Message
from fc_eval.agent.task import Agent, Redact, Task, exception_error, merged_usage
from fc_eval.domains.protocol import Domain, Sandbox
from fc_eval.records.case import AnyCase
from fc_eval.records.run import ErrorCode, ErrorKind, Fault, RunError, Status, Trace

DEADLINE_S = 900.0

_GRACE_S = 0.5
"""A client knows the deadline too, and gets the time to say what it was waiting for."""


async def run_case(
    case: AnyCase,
    *,
    domain: Domain,
    agent: Agent,
    sandbox: Sandbox | None = None,
    clock: Clock,
    repeat: int = 1,
    executor: Executor | None = None,
    deadline_s: float = DEADLINE_S,
    messages: Sequence[Message] | None = None,
    redact: Redact | None = None,
) -> Trace:
    """Let *agent* work on *case*, and say what it did.

    Args:
        case: Its instruction and id are used, its golden calls are not looked at.
        domain: The toolset, the system prompt, and the sandbox where none is given.
        agent: Sync agents run in *executor*, or a thread of their own; async ones on this loop.
        sandbox: A fresh one for this run.
        clock: Times of the record, and the deadline's clock.
        repeat: Which run of the case this is, from 1.
        executor: Where a sync agent and the sandbox run, so that fixtures stay in their thread.
            Without one, the sandbox runs where the agent calls it.
        deadline_s: Seconds after which the run ends as TIMEOUT.
        messages: The conversation to start from, instead of system prompt and instruction.
        redact: Takes secrets out of the texts of exceptions.

    Returns:
        The trace; AGENT_ERROR with everything recorded so far where the agent raised.

    Raises:
        asyncio.CancelledError: The caller cancelled the run.
        KeyboardInterrupt: The user did.
    """
    started_at, began = clock.now(), clock.monotonic()
    try:
        own_sandbox = domain.make_sandbox(case) if sandbox is None else sandbox
    except Exception as problem:
        return Trace(
            case_id=case.id,
            repeat=repeat,
            status=Status.AGENT_ERROR,
            error=_redacted(exception_error(problem), redact),
            started_at=started_at,
        )
    task = Task(
        case_id=case.id,
        repeat=repeat,
        instruction=case.instruction,
        domain=domain,
        sandbox=own_sandbox,
        clock=clock,
        messages=messages,
        executor=executor,
        deadline=began + deadline_s,
    )
    end = await _end_of(agent, task, executor, deadline_s)
    task.close()
    error = _redacted(task.error or end.error, redact)
    record = task.record
    return Trace(
        case_id=case.id,
        repeat=repeat,
        status=Status.COMPLETED if error is None else Status.AGENT_ERROR,
        error=error,
        calls=tuple(record.calls),
        exchanges=tuple(record.exchanges),
        flags=tuple(record.flags),
        attempts=tuple(record.attempts),
        final_text=end.text,
        steps=len(record.usages),
        usage=merged_usage(record.usages),
        started_at=started_at,
        elapsed_ms=round((clock.monotonic() - began) * 1000, 3),
        warnings=tuple(record.warnings),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _End:
    """How an agent came to its end: by a text, or by an error."""

    text: str | None = None
    error: RunError | None = None


async def _end_of(agent: Agent, task: Task, executor: Executor | None, deadline_s: float) -> _End:
    try:
        async with asyncio.timeout(deadline_s + _GRACE_S) as limit:
            value = await _answer(agent, task, executor)
    except KeyboardInterrupt:
        raise
    except asyncio.CancelledError as error:
        if _is_cancelled():
            raise
        # Raised inside the agent, not asked for by the caller.
        return _End(error=exception_error(error))
    except EndpointError as error:
        task.record.attempts += error.attempts
        task.record.note(*error.flags)
        if error.exchange is not None:
            task.record.exchanges.append(error.exchange)
        return _End(error=error.error)
    except AgentStoppedError as error:
        return _End(error=error.error)
    except TimeoutError as error:
        return _End(error=_timeout(deadline_s) if limit.expired() else exception_error(error))
    except BaseException as error:
        return _End(error=exception_error(error))
    if value is not None and not isinstance(value, str):
        problem = TypeError(f"the agent returned a {type(value).__name__}, not a text or None")
        return _End(error=exception_error(problem))
    return _End(text=value)


async def _answer(agent: Agent, task: Task, executor: Executor | None) -> Any:
    if _is_async(agent):
        return await _awaited(agent(task))
    # A sync agent shares its thread with the sandbox, which the executor could not run meanwhile.
    task.run_sandbox_in(None)
    value = await _in_thread(lambda: agent(task), executor)
    task.run_sandbox_in(executor)
    return await _awaited(value)


async def _awaited(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


def _is_async(agent: Agent) -> bool:
    call = getattr(agent, "__call__", None)  # noqa: B004 - asked for its kind, not its presence
    return inspect.iscoroutinefunction(agent) or inspect.iscoroutinefunction(call)


async def _in_thread(work: Callable[[], Any], executor: Executor | None) -> Any:
    """Run *work* in *executor*, or in a thread of its own, and hand on whatever it raises."""

    def outcome() -> Callable[[], Any]:
        # As a value: a StopIteration, for one, can't travel through a future.
        try:
            value = work()
        except BaseException as error:
            return _raiser(error)
        return lambda: value

    loop = asyncio.get_running_loop()
    if executor is not None:
        return (await loop.run_in_executor(executor, outcome))()
    return (await _in_daemon(loop, outcome))()


def _in_daemon(
    loop: asyncio.AbstractEventLoop, work: Callable[[], Callable[[], Any]]
) -> asyncio.Future[Callable[[], Any]]:
    # Threads of a pool are waited for when Python ends; an agent that hangs would keep it open.
    future: asyncio.Future[Callable[[], Any]] = loop.create_future()

    def settle(value: Callable[[], Any]) -> None:
        if not future.done():
            future.set_result(value)

    def target() -> None:
        value = work()
        # Nobody waits any more where the loop is closed.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, value)

    threading.Thread(target=target, name="fc-agent", daemon=True).start()
    return future


def _raiser(error: BaseException) -> Callable[[], Any]:
    def again() -> Any:
        if isinstance(error, StopIteration):
            raise RuntimeError("the agent raised StopIteration") from error
        raise error

    return again


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _timeout(deadline_s: float) -> RunError:
    return RunError(
        kind=ErrorKind.TIMEOUT,
        code=ErrorCode.TIMEOUT,
        message=f"the case took longer than {deadline_s:g} s",
        fault=Fault.UNCLEAR,
    )


def _redacted(error: RunError | None, redact: Redact | None) -> RunError | None:
    if error is None or redact is None:
        return error
    return replace(error, message=redact(error.message))
