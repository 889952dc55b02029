"""A completion as it came, read as a `Reply`, or as the reason why it is none.

Nothing a server sends may end a run: every field is looked at before it is used. The model's part
is kept as it is; what the server got wrong around it is noted as a flag. An answer that carries
any output of the model is never asked for again, so it ends as a reply or as a problem that is
not repeatable.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fc_eval.agent.arguments import is_cut, read_arguments
from fc_eval.agent.flags import Flag
from fc_eval.agent.protocol import ReadCall, Reply
from fc_eval.agent.strict_json import JsonFault
from fc_eval.client.classify import (
    BrokenGeneration,
    Problem,
    Response,
    broken_generation,
    classify,
    error_of_value,
    read_error,
    read_json_body,
    status_in_body,
)
from fc_eval.records.calls import Usage
from fc_eval.records.codec import JsonValue
from fc_eval.records.run import ErrorCode, Exchange, Fault

_KNOWN_REASONS = frozenset({"stop", "length", "tool_calls", "content_filter", "function_call"})
_CALL_REASONS = frozenset({"tool_calls", "function_call"})
_CALL_FIELDS = ("tool_calls", "function_call")
_BROKEN_REASONS = ("malformed_function_call", "unexpected_tool_call")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a request asked for, as far as its answer is read by it.

    `model` is None where the answer's model name says nothing. `limit` is the number of tokens
    that was sent as the most, None where none was.
    """

    model: str | None
    step: int = 1
    limit: int | None = None


def read_response(response: Response, asked: Asked) -> Reply | Problem:
    """Read one HTTP answer that is no redirect. Never raises."""
    try:
        if 200 <= response.status < 300:
            return _read_success(response, asked)
        error = read_error(response)
        broken = broken_generation(error)
        if broken is not None:
            return _broken_reply(broken, _Body(response=response, asked=asked))
        return classify(error, status=response.status, http_status=response.status)
    except Exception as error:
        # Whatever a server thinks of: the case is not measured, the run goes on.
        return _bad(response, f"the answer can't be read: {type(error).__name__}", repeatable=False)


def shown_body(body: bytes, *, cap: int | None = None) -> tuple[str, str | None]:
    """A body for the records: its text, or base64 and the word for it; at most *cap* bytes."""
    if cap is not None and len(body) > cap:
        # Not in the middle of a character: the rest would be no text any more.
        while cap and body[cap] & 0xC0 == 0x80:
            cap -= 1
        body = body[:cap]
    try:
        return body.decode("utf-8"), None
    except UnicodeDecodeError:
        return base64.b64encode(body).decode("ascii"), "base64"


def read_usage(value: JsonValue) -> Usage | None:
    """The token counts of an answer; None where there are none to be had."""
    if not isinstance(value, dict):
        return None
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    counts = {name: _count(value.get(name)) for name in names}
    if all(count is None for count in counts.values()):
        return None
    partial = counts["prompt_tokens"] is None or counts["completion_tokens"] is None
    return Usage(**counts, partial=partial)


def _count(value: JsonValue) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        return None
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class _Body:
    """A decoded body, with what it came in and what was asked."""

    response: Response
    asked: Asked
    value: Mapping[str, Any] = field(default_factory=dict)

    @property
    def usage(self) -> Usage | None:
        return read_usage(self.value.get("usage"))

    @property
    def completion_tokens(self) -> int | None:
        return self.usage.completion_tokens if self.usage is not None else None

    def exchange(self, finish_reason: str | None) -> Exchange:
        text, encoding = shown_body(self.response.body)
        return Exchange(
            step=self.asked.step,
            status=self.response.status,
            headers=self.response.headers,
            body=text,
            body_encoding=encoding,
            model=_text(self.value.get("model")),
            provider=_text(self.value.get("provider")),
            finish_reason=finish_reason,
            usage=self.usage,
        )


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None


def _read_success(response: Response, asked: Asked) -> Reply | Problem:
    try:
        value = read_json_body(response.body)
    except JsonFault as fault:
        return _bad(response, f"the body is no JSON ({_seen(response)}): {fault}")
    if not isinstance(value, dict):
        return _bad(response, "the body is no JSON object")
    body = _Body(response=response, asked=asked, value=value)
    choices = value.get("choices")
    if not choices and (value.get("error") or value.get("object") == "error"):
        return _error_in_success(body)
    if not isinstance(choices, list) or not choices:
        keys = ", ".join(sorted(value)[:8])[:200] or "nothing"
        return _bad(response, f"the body has no choices; it has {keys}")
    return _read_choices(body, choices)


def _error_in_success(body: _Body) -> Reply | Problem:
    error = error_of_value({"error": body.value.get("error") or body.value})
    broken = broken_generation(error)
    if broken is not None:
        return _broken_reply(broken, body)
    return classify(error, status=status_in_body(error), http_status=body.response.status)


def _read_choices(body: _Body, choices: list[Any]) -> Reply | Problem:
    spent = bool(body.completion_tokens)
    objects = (item for item in choices if isinstance(item, dict))
    ordered = list(map(_Choice.of, sorted(objects, key=_choice_index)))
    if not ordered:
        return _bad(body.response, "no choice is an object", repeatable=not spent)
    choice = ordered[0]
    if choice.reports_broken_call:
        broken = BrokenGeneration(message=f"finish_reason {choice.finish_reason}", text=None)
        return _broken_reply(broken, body, choice)
    flags = [Flag.EXTRA_CHOICES] if len(ordered) > 1 else []
    if choice.finish_reason in _CALL_REASONS and not choice.has_calls:
        other = next((item for item in ordered[1:] if item.has_calls), None)
        if other is not None:
            choice = choice.with_calls_of(other)
            flags.append(Flag.SPLIT_CHOICES)
    problem = choice.problem(body.response, spent=spent)
    return _read_message(body, choice, flags) if problem is None else problem


def _choice_index(choice: Mapping[str, Any]) -> float:
    index = choice.get("index")
    return index if isinstance(index, int) and not isinstance(index, bool) else float("inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """One choice, with the parts that decide whether there is an answer in it."""

    raw: Mapping[str, Any]
    message: Mapping[str, Any]
    has_message: bool
    finish_reason: str | None

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> _Choice:
        message = raw.get("message")
        reason = raw.get("finish_reason")
        return cls(
            raw=raw,
            message=message if isinstance(message, dict) else {},
            has_message=isinstance(message, dict),
            finish_reason=reason if isinstance(reason, str) else None,
        )

    def with_calls_of(self, other: _Choice) -> _Choice:
        """This choice, with the calls that stand in another one."""
        calls = {name: other.message[name] for name in _CALL_FIELDS if name in other.message}
        return replace(self, message={**self.message, **calls})

    @property
    def entries(self) -> list[Any]:
        entries = self.message.get("tool_calls")
        return entries if isinstance(entries, list) else []

    @property
    def has_calls(self) -> bool:
        return bool(self.entries) or isinstance(self.message.get("function_call"), dict)

    @property
    def has_output(self) -> bool:
        text, reasoning, refusal = read_content(self.message)
        return self.has_calls or bool(text.strip() or reasoning or refusal)

    @property
    def reports_broken_call(self) -> bool:
        reasons = f"{self.finish_reason} {self.raw.get('native_finish_reason')}".lower()
        return any(reason in reasons for reason in _BROKEN_REASONS) and not self.has_calls

    def problem(self, response: Response, *, spent: bool) -> Problem | None:
        """Why this choice is no answer of the model, or None where it is one."""
        if self.raw.get("error"):
            error = error_of_value({"error": self.raw["error"]})
            found = classify(error, status=status_in_body(error), http_status=response.status)
            return _final(found) if self.has_output or spent else found
        filtered = self.finish_reason == "content_filter"
        if filtered and not self.has_output:
            return Problem(
                code=ErrorCode.CONTENT_FILTER,
                message="the provider's content filter took the answer",
                fault=Fault.PROVIDER,
                status=response.status,
            )
        if not self.has_message:
            return _bad(response, "the choice has no message", repeatable=not spent)
        content = self.message.get("content")
        if content is not None and not isinstance(content, str | list | dict):
            return _bad(response, "the message's content is no text", repeatable=False)
        return self._problem_of_calls(response)

    def _problem_of_calls(self, response: Response) -> Problem | None:
        entries = self.message.get("tool_calls")
        if entries and not isinstance(entries, list):
            return _bad(response, "tool_calls is no list", repeatable=False)
        for entry in self.entries:
            if not isinstance(entry, dict) or not isinstance(entry.get("function"), dict):
                return _bad(
                    response, "an entry of tool_calls has no function object", repeatable=False
                )
        return None


def _read_message(body: _Body, choice: _Choice, flags: list[Flag]) -> Reply | Problem:
    message, reason = choice.message, choice.finish_reason
    text, reasoning, refusal = read_content(message)
    calls = _read_calls(message)
    if not (calls or text.strip() or refusal):
        problem = _problem_of_nothing(body, reason, flags, thought=bool(reasoning))
        if problem is not None:
            return problem
    calls, call_flags = _noted_by_reason(calls, reason, body)
    warnings, model_flags = _model_notes(body)
    notes = [*flags, *_notes_of(message, reason, bool(calls), body.usage), *call_flags]
    content = message.get("content")
    return Reply(
        text=text or refusal or "",
        raw_text=content if isinstance(content, str) else text,
        reasoning=reasoning or None,
        refusal=refusal,
        calls=calls,
        message=message,
        flags=tuple(dict.fromkeys(map(str, [*notes, *model_flags]))),
        warnings=warnings,
        finish_reason=reason,
        usage=body.usage,
        exchange=body.exchange(reason),
    )


def _problem_of_nothing(
    body: _Body, reason: str | None, flags: list[Flag], *, thought: bool
) -> Problem | None:
    """Why an answer without text and call is none of the model's; None where it is its own."""
    if reason in _CALL_REASONS:
        return _bad(
            body.response,
            "finish_reason announces a call and there is none: the server's tool-call parser may"
            " have lost it",
            repeatable=False,
            flags=(*flags, Flag.FINISH_MISMATCH),
        )
    if not thought and body.completion_tokens == 0:
        return _bad(body.response, "an empty answer of 0 tokens")
    return None


def _notes_of(
    message: Mapping[str, Any], reason: str | None, has_calls: bool, usage: Usage | None
) -> list[Flag]:
    notes = []
    if reason == "length":
        notes.append(Flag.FINISH_LENGTH)
    elif reason is not None and reason not in _KNOWN_REASONS:
        notes.append(Flag.FINISH_UNKNOWN)
    elif has_calls != (reason in _CALL_REASONS):
        notes.append(Flag.FINISH_MISMATCH)
    if "function_call" in message and has_calls and not message.get("tool_calls"):
        notes.append(Flag.LEGACY_FUNCTION_CALL)
    if _has_think_tags(message):
        notes.append(Flag.THINK_IN_CONTENT)
    if isinstance(message.get("refusal"), str) and message["refusal"]:
        notes.append(Flag.REFUSAL)
    if usage is None or usage.partial:
        notes.append(Flag.USAGE_UNKNOWN)
    return notes


def _read_calls(message: Mapping[str, Any]) -> tuple[ReadCall, ...]:
    entries = message.get("tool_calls")
    if isinstance(entries, list) and entries:
        return tuple(map(_read_entry, entries))
    legacy = message.get("function_call")
    if isinstance(legacy, dict):
        call = _read_call({"function": legacy})
        return (_with_flags(call, Flag.LEGACY_FUNCTION_CALL),)
    return ()


def _read_entry(entry: Mapping[str, Any]) -> ReadCall:
    call = _read_call(entry)
    missing = [Flag.ID_SYNTHESISED] if call.call_id is None else []
    if entry.get("type") != "function":
        missing.append(Flag.TYPE_MISSING)
    return _with_flags(call, *missing)


def _read_call(entry: Mapping[str, Any]) -> ReadCall:
    function: Mapping[str, Any] = entry["function"]
    read = read_arguments(function.get("arguments"))
    name, call_id = function.get("name"), entry.get("id")
    flags: list[str] = list(read.flags)
    if not isinstance(name, str) or not name:
        flags.append(Flag.NAME_MISSING)
    return ReadCall(
        call_id=call_id if isinstance(call_id, str) and call_id else None,
        tool=name if isinstance(name, str) else "",
        arguments=read.arguments,
        arguments_raw=read.arguments_raw,
        parse_error=read.parse_error,
        flags=tuple(flags),
        wire=entry,
    )


def _noted_by_reason(
    calls: tuple[ReadCall, ...], reason: str | None, body: _Body
) -> tuple[tuple[ReadCall, ...], list[Flag]]:
    """Calls whose text ends too early, with the flag that says what cut it."""
    limit = body.asked.limit
    at_limit = limit is not None and body.completion_tokens == limit
    noted, of_case = [], []
    for call in calls:
        if call.parse_error is None:
            noted.append(call)
        elif reason == "length" or (at_limit and is_cut(call.arguments_raw)):
            noted.append(_with_flags(call, Flag.FINISH_LENGTH))
            of_case.append(Flag.FINISH_LENGTH)
        elif is_cut(call.arguments_raw):
            noted.append(_with_flags(call, Flag.LOOKS_TRUNCATED))
        else:
            noted.append(call)
    return tuple(noted), of_case


def _with_flags(call: ReadCall, *flags: Flag) -> ReadCall:
    return replace(call, flags=tuple(dict.fromkeys([*call.flags, *flags])))


_THINK = r"think(?:ing)?|thought|reasoning"
_CLOSING = re.compile(rf"</(?:{_THINK})>|\[/THINK\]", re.IGNORECASE)
_OPENING = re.compile(rf"\A\s*(?:<(?:{_THINK})>|\[THINK\])", re.IGNORECASE)
_REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking")


def read_content(message: Mapping[str, Any]) -> tuple[str, str, str | None]:
    """The text, the reasoning and the refusal of a message.

    The text is what follows the last closing think tag; one that was opened first and never closed
    leaves none. Parts of a list are joined, thinking parts apart.
    """
    content = message.get("content")
    parts = content if isinstance(content, list) else [content]
    found: dict[str, list[str]] = {"text": [], "thinking": [], "refusal": []}
    for part in parts:
        kind, piece = _read_part(part)
        found[kind].append(piece)
    text, thought = _split_thinking("".join(found["text"]))
    thoughts = [*_reasoning_fields(message), *found["thinking"], thought]
    refusal = message.get("refusal")
    refused = refusal if isinstance(refusal, str) and refusal else "".join(found["refusal"])
    return text, "\n".join(item for item in thoughts if item), refused or None


def _read_part(part: JsonValue) -> tuple[str, str]:
    if isinstance(part, str):
        return "text", part
    if not isinstance(part, dict):
        return "text", ""
    kind = str(part.get("type") or "")
    if "refusal" in kind:
        return "refusal", str(part.get("refusal") or part.get("text") or "")
    if "think" in kind or "reason" in kind:
        inner = part.get("thinking") or part.get("reasoning") or part.get("text") or ""
        pieces = inner if isinstance(inner, list) else [inner]
        return "thinking", "".join(_read_part(piece)[1] for piece in pieces)
    text = part.get("text")
    return "text", text if isinstance(text, str) else ""


def _reasoning_fields(message: Mapping[str, Any]) -> list[str]:
    for name in _REASONING_FIELDS:
        value = message.get(name)
        if isinstance(value, str) and value:
            # Gateways send the same text under two names.
            return [value]
    return []


def _split_thinking(text: str) -> tuple[str, str]:
    """What a text says, and what it thinks: up to the last closing tag, or all of it."""
    closing = list(_CLOSING.finditer(text))
    if closing:
        last = closing[-1]
        said, thought = text[last.end() :].lstrip("\r\n"), text[: last.start()]
    elif _OPENING.match(text):
        said, thought = "", text
    else:
        return text, ""
    return said, _OPENING.sub("", thought, count=1)


def _has_think_tags(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    return isinstance(content, str) and bool(_CLOSING.search(content) or _OPENING.match(content))


_SNAPSHOT = re.compile(r"[-@:](?:\d{4}-?\d{2}-?\d{2}|\d{4,8}|latest|free)\Z")


def same_model(asked: str, answered: str) -> bool:
    """Whether *answered* names the model that was asked for; a dated snapshot of it does."""

    def plain(name: str) -> str:
        name = name.strip().lower()
        previous = ""
        while name != previous:
            previous, name = name, _SNAPSHOT.sub("", name)
        return name

    one, other = plain(asked), plain(answered)
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")


def _model_notes(body: _Body) -> tuple[tuple[str, ...], list[Flag]]:
    asked, answered = body.asked.model, _text(body.value.get("model"))
    if not asked or not answered or same_model(asked, answered):
        return (), []
    warning = f"asked for model {asked!r}, answered by {answered[:200]!r}"
    return (warning,), [Flag.MODEL_MISMATCH]


def _broken_reply(broken: BrokenGeneration, body: _Body, choice: _Choice | None = None) -> Reply:
    call = ReadCall(
        tool=None,
        arguments=None,
        arguments_raw=broken.text,
        parse_error=f"the endpoint could not read the model's call: {broken.message}",
        flags=(Flag.BROKEN_GENERATION,),
    )
    text = read_content(choice.message)[0] if choice else ""
    reason = choice.finish_reason if choice else None
    return Reply(
        text=text,
        raw_text=text,
        calls=(call,),
        broken=True,
        finish_reason=reason,
        flags=(Flag.USAGE_UNKNOWN,) if body.usage is None else (),
        usage=body.usage,
        exchange=body.exchange(reason),
    )


def _bad(
    response: Response, message: str, *, repeatable: bool = True, flags: Sequence[str] = ()
) -> Problem:
    return Problem(
        code=ErrorCode.BAD_RESPONSE,
        message=message,
        fault=Fault.PROVIDER,
        status=response.status,
        repeatable=repeatable,
        flags=tuple(map(str, flags)),
    )


def _final(problem: Problem) -> Problem:
    return replace(problem, repeatable=False)


def _seen(response: Response) -> str:
    kind = response.headers.get("content-type", "no content type")
    return f"{len(response.body)} bytes of {kind[:80]}"
