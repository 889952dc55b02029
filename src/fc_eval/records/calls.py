"""One tool call as it was made, and what came back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fc_eval.records.codec import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFault:
    """The error that a tool call was answered with, as the model saw it."""

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of one tool.

    `index` counts the calls of a trace from 0, `step` the model's requests from 1.
    `tool` is the name as it came, also where no such tool exists; it is None only where the
    endpoint reported a broken call without a name.
    `arguments` is None where they are no JSON object, so that "called without arguments" and
    "arguments that nobody can read" stay apart. `arguments_raw` is the text as it came, and None
    where that is just the plain encoding of `arguments`. `parse_error` says why a text could not
    be read. `result` is the JSON value that went back to the model; with `error` set it is
    `{"error": {"code", "message"}}`.
    `turn` is set in episodes only and counts the user's turns from 0.
    """

    index: int
    step: int
    call_id: str | None
    tool: str | None
    arguments: Mapping[str, JsonValue] | None
    arguments_raw: str | None = None
    parse_error: str | None = None
    result: JsonValue = None
    error: ToolFault | None = None
    flags: tuple[str, ...] = ()
    started_at: str | None = None
    elapsed_ms: float | None = None
    turn: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens as the endpoint counted them; None where it did not say, never 0.

    `partial` is true where some answers of a sum had no count.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    partial: bool = False
