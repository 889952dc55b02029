"""`Task`: what an agent gets to work on, and the one way to its tools.

Every call runs through a task, whoever makes it: it is checked against the toolset, run in the
case's sandbox, and recorded. A fault that the model shall see comes back as
`{"error": {"code", "message"}}`; a sandbox that breaks ends the run, whatever the agent makes of
the exception.
"""

from __future__ import annotations

import asyncio
import sysconfig
import threading
import traceback
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from fc_eval.agent.arguments import read_arguments
from fc_eval.agent.flags import Flag
from fc_eval.agent.protocol import AgentStoppedError, Clock, Message, ReadCall
from fc_eval.agent.strict_json import JsonFault, copy_json
from fc_eval.domains.protocol import Domain, Sandbox
from fc_eval.errors import ToolError
from fc_eval.records.calls import Call, ToolFault, Usage
from fc_eval.records.codec import JsonValue
from fc_eval.records.run import Attempt, ErrorCode, ErrorKind, Exchange, Fault, RunError

UNKNOWN_TOOL = "UNKNOWN_TOOL"
INVALID_ARGUMENTS = "INVALID_ARGUMENTS"

MAX_CALLS = 2000
"""Calls that one run may make, so that an agent in an endless loop comes to an end."""

_MESSAGE_CHARS = 2000
_NOT_THE_PROJECTS = (Path(__file__).parent.parent, Path(sysconfig.get_path("stdlib")))

Redact: TypeAlias = Callable[[str], str]


@dataclass(slots=True)
class Record:
    """What a run did so far, in the order in which it happened."""

    calls: list[Call] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    usages: list[Usage | None] = field(default_factory=list)

    def note(self, *flags: str) -> None:
        """Add flags of the case, each once."""
        self.flags += [str(flag) for flag in flags if flag not in self.flags]

    def warn(self, *warnings: str) -> None:
        """Add warnings, each once."""
        self.warnings += [text for text in warnings if text not in self.warnings]


class Task:
    """One case as an agent sees it: an instruction, tools, and a way to call them.

    `tools` are in the OpenAI form. `messages` is the conversation to start from where there is
    one; otherwise None, and the agent makes it of `system_prompt` and `instruction`.
    """

    def __init__(
        self,
        *,
        case_id: str,
        repeat: int,
        instruction: str,
        domain: Domain,
        sandbox: Sandbox,
        clock: Clock,
        messages: Sequence[Message] | None = None,
        executor: Executor | None = None,
        deadline: float | None = None,
    ) -> None:
        self.case_id = case_id
        self.repeat = repeat
        self.instruction = instruction
        self.messages = None if messages is None else list(messages)
        self.system_prompt = domain.system_prompt
        self.toolset = domain.toolset
        self.clock = clock
        self.deadline = deadline
        self.record = Record()
        self.error: RunError | None = None
        self._sandbox = sandbox
        self._executor = executor
        self._closed = False
        # Agents may call tools from several threads; a sandbox is not asked to bear that.
        self._lock = threading.Lock()

    @property
    def tools(self) -> list[dict[str, JsonValue]]:
        """The tools in the OpenAI form, a copy of their own for each reader."""
        return self.toolset.openai()

    def call(self, name: str, arguments: object = None) -> JsonValue:
        """Run one tool and return its result, or `{"error": {"code", "message"}}`.

        Args:
            name: The tool.
            arguments: A dict, or JSON text as a model writes it; nothing is no arguments.

        Raises:
            AgentStoppedError: The run has ended; let it pass.
        """
        call = _own_call(name, arguments)
        if self._executor is None:
            return self.execute(call)
        return self._executor.submit(self.execute, call).result()

    async def acall(self, name: str, arguments: object = None) -> JsonValue:
        """As `call`, for agents that run on an event loop."""
        return await self.aexecute(_own_call(name, arguments))

    async def aexecute(
        self, call: ReadCall, *, step: int | None = None, call_id: str | None = None
    ) -> JsonValue:
        """As `execute`, in the thread that the sandbox belongs to."""
        if self._executor is None:
            return self.execute(call, step=step, call_id=call_id)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._executor, lambda: self.execute(call, step=step, call_id=call_id)
        )

    def execute(
        self, call: ReadCall, *, step: int | None = None, call_id: str | None = None
    ) -> JsonValue:
        """Check, run and record a call that was read from a model's answer.

        Args:
            call: The call as it was read.
            step: The model's request that it came with, from 1; each call is a step of its own
                where none is given.
            call_id: Its id in the conversation.
        """
        with self._lock:
            self._check_open()
            started_at, began = self.clock.now(), self.clock.monotonic()
            result, fault = self._answer(call)
            self._append(
                call,
                step=step,
                call_id=call_id,
                result=result,
                error=fault,
                started_at=started_at,
                elapsed_ms=round((self.clock.monotonic() - began) * 1000, 3),
            )
            if self.error is not None:
                raise AgentStoppedError(self.error)
            return copy_json(result)

    def note_call(self, call: ReadCall, *, step: int, call_id: str | None = None) -> None:
        """Record a call without running it."""
        with self._lock:
            self._append(call, step=step, call_id=call_id)

    def close(self) -> None:
        """End the run: a call after this is refused and not recorded."""
        self._closed = True

    def run_sandbox_in(self, executor: Executor | None) -> None:
        """Run the sandbox in *executor* from now on; without one, where the agent calls it."""
        self._executor = executor

    def _check_open(self) -> None:
        if self._closed:
            raise AgentStoppedError(_exception_error("the run of this case has ended"))
        if self.error is not None:
            raise AgentStoppedError(self.error)
        if len(self.record.calls) >= MAX_CALLS:
            self.error = max_steps_error(f"the agent made {MAX_CALLS} tool calls without an end")
            raise AgentStoppedError(self.error)

    def _append(
        self,
        call: ReadCall,
        *,
        step: int | None,
        call_id: str | None,
        result: JsonValue = None,
        error: ToolFault | None = None,
        started_at: str | None = None,
        elapsed_ms: float | None = None,
    ) -> None:
        index = len(self.record.calls)
        self.record.calls.append(
            Call(
                index=index,
                step=index + 1 if step is None else step,
                call_id=call.call_id if call_id is None else call_id,
                tool=call.tool,
                arguments=call.arguments,
                arguments_raw=call.arguments_raw,
                parse_error=call.parse_error,
                result=result,
                error=error,
                flags=tuple(map(str, call.flags)),
                started_at=started_at,
                elapsed_ms=elapsed_ms,
            )
        )

    def _answer(self, call: ReadCall) -> tuple[JsonValue, ToolFault | None]:
        fault = self._fault_of(call)
        if fault is not None:
            return _error_result(fault), fault
        name = call.tool or ""
        try:
            # The sandbox gets a copy: what it does to its arguments is not what the model sent.
            answer = self._sandbox.call(name, copy_json(call.arguments))
            return copy_json(answer), None
        except ToolError as error:
            fault = ToolFault(code=str(error.code), message=str(error.message))
            return _error_result(fault), fault
        except JsonFault as error:
            self.error = _exception_error(f"the sandbox's result of {name!r}: {error}")
        except (KeyboardInterrupt, asyncio.CancelledError):
            raise
        except BaseException as error:
            self.error = _exception_error(f"the sandbox failed in {name!r}: {told(error)}")
        return None, None

    def _fault_of(self, call: ReadCall) -> ToolFault | None:
        tool = self.toolset.get(call.tool)
        if call.arguments is None and (tool is not None or call.tool is None):
            return ToolFault(
                code=INVALID_ARGUMENTS,
                message=f"the arguments can't be read: {call.parse_error or 'no JSON object'}",
            )
        if tool is None:
            known = ", ".join(self.toolset.names())
            return ToolFault(
                code=UNKNOWN_TOOL,
                message=f"there is no tool {(call.tool or '')[:100]!r}; there are: {known}",
            )
        faults = self.toolset.schema_faults(tool.name, call.arguments)
        if faults:
            text = "; ".join(fault.message for fault in faults[:5])
            return ToolFault(code=INVALID_ARGUMENTS, message=text[:_MESSAGE_CHARS])
        return None


AgentResult: TypeAlias = str | Awaitable[str | None] | None
Agent: TypeAlias = Callable[[Task], AgentResult]
"""What makes calls out of a task: sync or async, it returns the final text or None."""


def told(error: BaseException) -> str:
    """An exception in one line: its type and what it says, whatever it says."""
    try:
        text = " ".join(str(error).split())
    except Exception:
        text = "(its text can't be had)"
    name = type(error).__name__
    said = f"{name}: {text[:_MESSAGE_CHARS]}" if text else name
    return f"{said}{_raised_at(error)}"


def _raised_at(error: BaseException) -> str:
    """Where the project's own code raised *error*: file and line, without the folder."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [
        frame
        for frame in frames
        if not any(folder in Path(frame.filename).parents for folder in _NOT_THE_PROJECTS)
    ]
    if not own:
        return ""
    return f" (at {Path(own[-1].filename).name}:{own[-1].lineno} in {own[-1].name})"


def _exception_error(message: str) -> RunError:
    return RunError(
        kind=ErrorKind.AGENT_EXCEPTION,
        code=ErrorCode.EXCEPTION,
        message=message,
        fault=Fault.CLIENT,
    )


def exception_error(error: BaseException) -> RunError:
    """Why a run ended whose agent raised *error*."""
    return _exception_error(told(error))


def max_steps_error(message: str) -> RunError:
    """Why a run ended that came to no end by itself."""
    return RunError(
        kind=ErrorKind.MAX_STEPS, code=ErrorCode.MAX_STEPS, message=message, fault=Fault.MODEL
    )


def _own_call(name: object, arguments: object) -> ReadCall:
    read = read_arguments(arguments)
    # An agent of one's own hands over a dict; only a text can be odd in the way of a wire.
    flags = [flag for flag in read.flags if flag != Flag.ARGS_NOT_STRING and arguments is not None]
    if not isinstance(name, str) or not name:
        flags.append(Flag.NAME_MISSING)
    return ReadCall(
        tool=name if isinstance(name, str) else "",
        arguments=read.arguments,
        arguments_raw=read.arguments_raw,
        parse_error=read.parse_error,
        flags=tuple(flags),
    )


def _error_result(fault: ToolFault) -> dict[str, Any]:
    return {"error": {"code": fault.code, "message": fault.message}}


def merged_usage(usages: Sequence[Usage | None]) -> Usage | None:
    """The sum of what several answers cost; None where no answer said."""
    known = [usage for usage in usages if usage is not None]
    if not known:
        return None
    partial = len(known) < len(usages) or any(usage.partial for usage in known)

    def total(name: str) -> int | None:
        counts = [getattr(usage, name) for usage in known]
        present = [count for count in counts if count is not None]
        nonlocal partial
        partial = partial or len(present) < len(counts)
        return sum(present) if present else None

    sums = {name: total(name) for name in ("prompt_tokens", "completion_tokens", "total_tokens")}
    return Usage(**sums, partial=partial)
