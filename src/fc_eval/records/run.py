"""`RawRunV1`: what was asked and what came back, unjudged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from fc_eval.records.calls import Call, Usage
from fc_eval.records.codec import JsonValue, Plain, to_plain

RAW_RUN_SCHEMA = "RawRunV1"


class Status(StrEnum):
    """How the run of a case ended."""

    COMPLETED = "completed"
    AGENT_ERROR = "agent_error"
    SKIPPED = "skipped"


class ErrorKind(StrEnum):
    """What an agent error is made of."""

    API_ERROR = "API_ERROR"
    TIMEOUT = "TIMEOUT"
    MAX_STEPS = "MAX_STEPS"
    AGENT_EXCEPTION = "AGENT_EXCEPTION"


class ErrorCode(StrEnum):
    """Why a model was not measured, in one word."""

    AUTH = "auth"
    QUOTA = "quota"
    RATE_LIMITED = "rate_limited"
    API_ERROR = "api_error"
    BAD_RESPONSE = "bad_response"
    CONNECTION = "connection"
    TIMEOUT = "timeout"
    NOT_FOUND = "not_found"
    TOOLS_UNSUPPORTED = "tools_unsupported"
    REQUEST_REJECTED = "request_rejected"
    SCHEMA_REJECTED = "schema_rejected"
    CONTEXT_LENGTH = "context_length"
    CONTENT_FILTER = "content_filter"
    REDIRECT = "redirect"
    MAX_STEPS = "max_steps"
    EXCEPTION = "exception"
    NOT_RUN = "not_run"


class Fault(StrEnum):
    """Whose fault a FAIL or an AGENT_ERROR is."""

    MODEL = "model"
    PROVIDER = "provider"
    TRANSPORT = "transport"
    CLIENT = "client"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunError:
    """Why an agent run ended without a measurement."""

    kind: ErrorKind
    code: str
    message: str
    http_status: int | None = None
    fault: Fault | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One failed try of one request.

    `step` and `number` count from 1. `status` is the HTTP status, `exception` the transport's
    error, one of them None. `wait_s` is the wait that followed, None where none did, and `hint`
    names what asked for it. `body` is the answer's text, base64 where `body_encoding` says so.
    """

    step: int
    number: int
    started_at: str | None = None
    elapsed_ms: float | None = None
    status: int | None = None
    exception: str | None = None
    code: str | None = None
    wait_s: float | None = None
    hint: str | None = None
    headers: Mapping[str, str] | None = None
    body: str | None = None
    body_encoding: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request as it went and came.

    `sent` holds the messages that were added since the exchange before. `body` is the answer's
    bytes as text, base64 where `body_encoding` is "base64". `headers` has no secret.
    """

    step: int
    sent: tuple[JsonValue, ...] = ()
    status: int | None = None
    headers: Mapping[str, str] | None = None
    body: str | None = None
    body_encoding: str | None = None
    model: str | None = None
    provider: str | None = None
    finish_reason: str | None = None
    usage: Usage | None = None
    turn: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace(Plain):
    """What one agent run did: its calls in order, errors, times, the final text.

    `repeat` counts the runs of a case from 1. `steps` counts model requests that were answered.
    """

    case_id: str
    repeat: int = 1
    status: Status
    error: RunError | None = None
    calls: tuple[Call, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    flags: tuple[str, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    final_text: str | None = None
    steps: int = 0
    usage: Usage | None = None
    started_at: str | None = None
    elapsed_ms: float | None = None
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of the case; the inverse of `from_dict`."""
        plain: dict[str, Any] = to_plain(self)
        for item in (*plain["calls"], *plain["exchanges"]):
            if item["turn"] is None:
                del item["turn"]
        return plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Harness:
    """What ran the cases."""

    name: str
    version: str
    python: str
    pytest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InputHashes:
    """SHA-256 of everything that a verdict depends on; None for what a suite does not have."""

    cases: str | None = None
    tools: str | None = None
    database: str | None = None
    policy: str | None = None
    system_prompt: str | None = None
    model_config: str | None = None
    judge_rules: str | None = None

    def differing(self, other: InputHashes) -> tuple[str, ...]:
        """The names of the hashes that differ, in the order of the fields."""
        return tuple(name for name in self.__slots__ if getattr(self, name) != getattr(other, name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which cases of the suite a run was asked for, in order, and the digest of each."""

    case_ids: tuple[str, ...]
    suite_size: int
    case_digests: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RawRunV1(Plain):
    """All traces of one session.

    `model` is the profile without secrets (see `agent.profile.ModelProfile.public`).
    `complete` is true where every selected case was run to its end as often as asked for.
    """

    schema: str = RAW_RUN_SCHEMA
    run_id: str
    started_at: str
    finished_at: str | None
    complete: bool
    harness: Harness
    model: Mapping[str, JsonValue]
    input_hashes: InputHashes
    selection: Selection
    repeats: int
    cases: tuple[Trace, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON object; the inverse of `from_dict`."""
        # Traces write themselves; taking them through the codec as well would be done for nothing.
        plain: dict[str, Any] = to_plain(replace(self, cases=()))
        plain["cases"] = [trace.to_dict() for trace in self.cases]
        return plain
