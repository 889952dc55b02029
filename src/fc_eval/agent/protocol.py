"""What a conversation is made of: the client that asks, the protocol that shows tools.

Two seams. A `ChatClient` sends one request and answers with a `Reply`, or raises `EndpointError`
where the model could not be measured; retries, keys and wire formats are its own affair. A
`ToolProtocol` is the difference between native tool calling and tools in the prompt: how tools are
put into a request, how a reply's calls are read, how results go back. `agent.loop` knows nothing
else of either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from fc_eval.records.calls import Usage
from fc_eval.records.codec import JsonValue
from fc_eval.records.run import Attempt, Exchange, RunError

Message = dict[str, Any]
"""One message of a chat, as the chat-completions API has it."""


class Clock(Protocol):
    """Time as an argument, so that the core has none of its own."""

    def now(self) -> str:
        """The time in UTC as ISO 8601 text, such as `2026-01-31T12:00:00.250Z`."""
        ...

    def monotonic(self) -> float:
        """Seconds since some fixed moment; never goes back."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCall:
    """One call as it was read from an answer, before it is run.

    `call_id` is the id as it came, None where none did. `tool` is the name as it came, "" where a
    call had none, and None only where the answer as a whole is a broken call, without a name that
    could be read. `arguments` is None where they are no JSON object; `parse_error` then says why
    and `arguments_raw` holds the text. `wire` is the call's own object as it came, so that
    signatures can go back unchanged.
    """

    call_id: str | None = None
    tool: str | None
    arguments: Mapping[str, JsonValue] | None
    arguments_raw: str | None = None
    parse_error: str | None = None
    flags: tuple[str, ...] = ()
    wire: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer of a model, read but not yet acted on.

    `text` is what the model says, without its reasoning; `raw_text` is the content as it came.
    `calls` are those of the answer's `tool_calls`. `message` is the assistant message as it came.
    `broken` is true where the endpoint reported a generation that it could not read: `calls` then
    has one call without a name, and nothing of the reply can go back to the model.
    `exchange` is the request as it came back; who sent it adds what was sent. `attempts` are the
    failed tries before it.
    """

    text: str = ""
    raw_text: str = ""
    reasoning: str | None = None
    refusal: str | None = None
    calls: tuple[ReadCall, ...] = ()
    message: Mapping[str, JsonValue] = field(default_factory=dict)
    broken: bool = False
    flags: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    exchange: Exchange
    attempts: tuple[Attempt, ...] = ()


class AgentStoppedError(Exception):
    """The run ends here as AGENT_ERROR, for the reason that `error` gives."""

    def __init__(self, error: RunError) -> None:
        super().__init__(f"{error.code}: {error.message}")
        self.error = error


class EndpointError(AgentStoppedError):
    """The model could not be measured: no answer of it was had.

    Args:
        error: Kind, code and text for the trace, without secrets.
        attempts: Every try that was made, the last one included.
        exchange: The request as it came back last, None where nothing was sent.
        flags: Notes on what came instead of an answer.
    """

    def __init__(
        self,
        error: RunError,
        *,
        attempts: Sequence[Attempt] = (),
        exchange: Exchange | None = None,
        flags: Sequence[str] = (),
    ) -> None:
        super().__init__(error)
        self.attempts = tuple(attempts)
        self.exchange = exchange
        self.flags = tuple(flags)


class ChatClient(Protocol):
    """What asks a model."""

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        fields: Mapping[str, JsonValue],
        step: int = 1,
        deadline: float | None = None,
    ) -> Reply:
        """Send one request, repeat it where that is right, and read the answer.

        Args:
            messages: The whole conversation so far.
            fields: What the tool protocol adds to the request, such as `tools`.
            step: The request's number in its conversation, from 1, for the records.
            deadline: The clock's monotonic time after which nothing new is begun.

        Raises:
            EndpointError: No answer of the model was had.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a tool protocol finds in a reply.

    Without calls, `text` is the final answer.
    """

    calls: tuple[ReadCall, ...] = ()
    text: str = ""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredCall:
    """A call that was run, ready to go back to the model.

    `history_id` is unique in the conversation. `content` is the result as JSON text.
    """

    call: ReadCall
    history_id: str
    content: str


class ToolProtocol(Protocol):
    """How tools are shown to a model, and calls and results go between the two."""

    def system_text(self, system_prompt: str) -> str:
        """The system prompt as it is sent, with tool documents where they belong there."""
        ...

    def request_fields(self) -> dict[str, JsonValue]:
        """What is added to each request's body, such as `tools` or `response_format`."""
        ...

    def read(self, reply: Reply) -> Reading:
        """The calls of a reply, in order, and its text. Never raises, never repairs."""
        ...

    def assistant_message(self, reply: Reply, answered: Sequence[AnsweredCall]) -> Message:
        """The reply as it goes into the history, with the ids of *answered*."""
        ...

    def result_messages(self, answered: Sequence[AnsweredCall]) -> list[Message]:
        """The results of one reply's calls, as messages that follow the assistant's."""
        ...
