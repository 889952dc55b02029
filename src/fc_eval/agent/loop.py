"""The agent loop: ask, run the calls, tell the results, ask again, until the model has answered.

The loop knows neither wire formats nor how tools are shown; it sees replies and readings. The
model never runs anything: its calls go through the task, in order, and every one is answered.
"""

from __future__ import annotations

import hashlib
import json
import string
from collections.abc import Sequence
from dataclasses import replace

from fc_eval.agent.flags import Flag, notes_on_call, notes_on_text
from fc_eval.agent.native import NativeProtocol
from fc_eval.agent.profile import ModelProfile, ToolMode
from fc_eval.agent.protocol import (
    AgentStoppedError,
    AnsweredCall,
    ChatClient,
    EndpointError,
    Message,
    ReadCall,
    Reading,
    Reply,
    ToolProtocol,
)
from fc_eval.agent.schemas import sent_tools
from fc_eval.agent.task import Task, max_steps_error
from fc_eval.records.codec import JsonValue

MAX_CALLS_PER_MESSAGE = 64

_ID_LETTERS = string.ascii_letters + string.digits
_ID_LENGTH = 9


class ModelAgent:
    """An agent that is a model behind a client.

    Args:
        client: Asks the model.
        profile: Steps, tool mode and schema profile.
        protocol: How tools are shown; made from the profile where none is given.
    """

    def __init__(
        self, client: ChatClient, profile: ModelProfile, *, protocol: ToolProtocol | None = None
    ) -> None:
        self._client = client
        self._profile = profile
        self._protocol = protocol

    async def __call__(self, task: Task) -> str | None:
        """Work on *task* until the model answers without a call, and return that answer.

        Raises:
            AgentStoppedError: The model was out of reach, or came to no end in `max_steps`.
        """
        talk = _Talk(self._client, self._profile, self._protocol, task)
        for step in range(1, self._profile.max_steps + 1):
            reply = await talk.ask(step)
            if reply.broken:
                return talk.end_broken(reply, step)
            reading = talk.read(reply)
            if not reading.calls:
                return talk.finish(reply, reading)
            await talk.run(reply, reading, step)
        raise AgentStoppedError(
            max_steps_error(f"no answer without a call in {self._profile.max_steps} requests")
        )

    async def answer_once(self, task: Task) -> str | None:
        """Ask once; the calls are recorded and not run. Returns the text.

        Raises:
            AgentStoppedError: The model was out of reach.
        """
        talk = _Talk(self._client, self._profile, self._protocol, task)
        reply = await talk.ask(1)
        if reply.broken:
            return talk.end_broken(reply, 1)
        reading = talk.read(reply)
        if not reading.calls:
            return talk.finish(reply, reading)
        talk.note_calls(reading.calls, 1)
        return reading.text


class _Talk:
    """One conversation: its messages, and which ids are taken."""

    def __init__(
        self,
        client: ChatClient,
        profile: ModelProfile,
        protocol: ToolProtocol | None,
        task: Task,
    ) -> None:
        self._client = client
        self._task = task
        self._protocol = protocol or protocol_of(profile, task.tools)
        self._messages = first_messages(task, self._protocol)
        self._sent = 0
        self._ids = {
            str(call.get("id"))
            for message in self._messages
            for call in message.get("tool_calls") or ()
        }

    async def ask(self, step: int) -> Reply:
        record = self._task.record
        sent = tuple(self._messages[self._sent :])
        self._sent = len(self._messages)
        try:
            reply = await self._client.complete(
                list(self._messages),
                fields=self._protocol.request_fields(),
                step=step,
                deadline=self._task.deadline,
            )
        except EndpointError as error:
            if error.exchange is not None:
                error.exchange = replace(error.exchange, sent=sent)
            raise
        record.exchanges.append(replace(reply.exchange, step=step, sent=sent))
        record.attempts += reply.attempts
        record.usages.append(reply.usage)
        record.note(*reply.flags)
        record.warn(*reply.warnings)
        return reply

    def read(self, reply: Reply) -> Reading:
        reading = self._protocol.read(reply)
        self._task.record.note(*reading.flags)
        cut = reply.finish_reason == "length"
        calls = tuple(self._noted(call, cut=cut) for call in reading.calls)
        return replace(reading, calls=calls)

    def finish(self, reply: Reply, reading: Reading) -> str:
        """Note what is odd about an answer without calls, and return it."""
        notes = notes_on_text(reading.text, reply.reasoning or "", names=self._task.toolset.names())
        self._task.record.note(*notes.flags)
        self._task.record.warn(*notes.warnings)
        return reading.text

    def end_broken(self, reply: Reply, step: int) -> str:
        """Record a call that the endpoint itself could not read; nothing of it can go back."""
        for call in reply.calls:
            self._task.note_call(call, step=step)
        return reply.text

    def note_calls(self, calls: Sequence[ReadCall], step: int) -> None:
        """Record calls without running them."""
        for call in calls:
            self._task.note_call(call, step=step)

    async def run(self, reply: Reply, reading: Reading, step: int) -> None:
        """Run the calls of one reply in order, and put them and their results into the history."""
        answered = []
        for call in reading.calls[:MAX_CALLS_PER_MESSAGE]:
            result = await self._task.aexecute(call, step=step)
            answered.append(
                AnsweredCall(call=call, history_id=call.call_id or "", content=_text_of(result))
            )
        if len(reading.calls) > MAX_CALLS_PER_MESSAGE:
            self.note_calls(reading.calls[MAX_CALLS_PER_MESSAGE:], step)
            raise AgentStoppedError(
                max_steps_error(
                    f"{len(reading.calls)} calls in one message;"
                    f" the first {MAX_CALLS_PER_MESSAGE} were run"
                )
            )
        self._messages.append(self._protocol.assistant_message(reply, answered))
        self._messages += self._protocol.result_messages(answered)

    def _noted(self, call: ReadCall, *, cut: bool) -> ReadCall:
        """The call with an id that is its own in this conversation, and with its notes."""
        flags = [*call.flags, *notes_on_call(call, self._task.toolset)]
        if cut and call.parse_error is not None:
            flags.append(Flag.FINISH_LENGTH)
        call_id = call.call_id
        if call_id in self._ids:
            flags.append(Flag.ID_DUPLICATE)
        if call_id is None or call_id in self._ids:
            call_id = self._new_id()
        self._ids.add(call_id)
        return replace(call, call_id=call_id, flags=tuple(dict.fromkeys(flags)))

    def _new_id(self) -> str:
        # Nine letters and digits, which every server takes; the same in every run of the case.
        seed = f"{self._task.case_id}\0{self._task.repeat}\0{len(self._ids)}"
        number = int.from_bytes(hashlib.sha256(seed.encode("utf-8", "surrogatepass")).digest())
        letters = []
        for _ in range(_ID_LENGTH):
            number, rest = divmod(number, len(_ID_LETTERS))
            letters.append(_ID_LETTERS[rest])
        return "".join(letters)


def protocol_of(profile: ModelProfile, tools: Sequence[dict[str, JsonValue]]) -> ToolProtocol:
    """The tool protocol that a profile asks for, over *tools* in the OpenAI form.

    Raises:
        ConfigError: The profile names a prompt format or a schema profile that does not exist.
        DomainError: A schema can't be written in the profile's form.
    """
    sent = sent_tools(tools, profile.schema_profile)
    if profile.tool_mode is ToolMode.PROMPT:
        from fc_eval.agent.prompt import protocol_for

        return protocol_for(profile.prompt_format, sent.tools)
    return NativeProtocol(sent.tools, echo_reasoning=profile.echo_reasoning)


def first_messages(task: Task, protocol: ToolProtocol) -> list[Message]:
    """What a conversation begins with: the task's messages, or its prompt and instruction."""
    if task.messages is None:
        system, rest = task.system_prompt, [{"role": "user", "content": task.instruction}]
    elif task.messages and task.messages[0].get("role") == "system":
        system, rest = str(task.messages[0].get("content") or ""), task.messages[1:]
    else:
        system, rest = "", task.messages
    text = protocol.system_text(system)
    return [*([{"role": "system", "content": text}] if text else []), *rest]


def _text_of(result: JsonValue) -> str:
    return json.dumps(result, ensure_ascii=False)
