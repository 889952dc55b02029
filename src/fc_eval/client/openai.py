"""An OpenAI-compatible endpoint as a `ChatClient`: requests out, replies in, faults repeated.

What goes out is the model, the messages, what the tool protocol adds, and what the profile says.
What comes back is read in `client.wire`, what failed is judged in `client.classify`, and when it
is tried again in `client.retry`; this module drives them and keeps every failed try.
"""

from __future__ import annotations

import asyncio
import base64
import json
import random as random_module
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol
from urllib.parse import urlsplit, urlunsplit

import httpx
import tenacity

from fc_eval.agent.profile import ModelProfile
from fc_eval.agent.protocol import Clock, EndpointError, Message, Reply
from fc_eval.agent.strict_json import JsonFault
from fc_eval.client.classify import Problem, Response, read_json_body
from fc_eval.client.clock import SystemClock
from fc_eval.client.gate import Gate, Sleep
from fc_eval.client.keys import profile_secrets, userinfo
from fc_eval.client.redact import Redactor, Secret
from fc_eval.client.retry import Hint, Plan, Random, parse_hint, plan_repeat
from fc_eval.client.transport import ACCEPTED_ENCODINGS, send
from fc_eval.client.wire import Asked, read_response, shown_body
from fc_eval.records.codec import JsonValue
from fc_eval.records.run import Attempt, ErrorCode, Exchange, Fault

_ATTEMPT_BODY = 256 * 1024
"""Bytes of a failed try's body that are kept; whole answers of a model are kept whole."""


class WallClock(Clock, Protocol):
    """A clock that also knows the date, for the dates that a server names."""

    def epoch(self) -> float:
        """Seconds since 1970."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Where a client's time and chance come from, so that a test can give both."""

    clock: WallClock = field(default_factory=SystemClock)
    sleep: Sleep = asyncio.sleep
    random: Random = random_module.random


class _TryFailedError(Exception):
    """One try failed; `plan` says what follows."""

    def __init__(self, problem: Problem, plan: Plan) -> None:
        super().__init__(problem.message)
        self.problem = problem
        self.plan = plan


class OpenAIClient:
    """Asks one model at one endpoint.

    Args:
        http: Sends the requests; its owner closes it.
        profile: The model and its limits.
        base_url: Where the endpoint is; the profile's, or a local server's.
        key: Goes into the Authorization header where there is one.
        gate: What this endpoint's requests share.
        timing: Clock, sleep and random numbers.
    """

    def __init__(
        self,
        http: httpx.AsyncClient,
        profile: ModelProfile,
        *,
        base_url: str,
        key: Secret | None = None,
        gate: Gate | None = None,
        redactor: Redactor | None = None,
        timing: Timing | None = None,
    ) -> None:
        self._http = http
        self._profile = profile
        self._url = completions_url(base_url)
        self.headers = request_headers(profile, base_url, key)
        self._gate = gate or Gate()
        self.redactor = redactor or Redactor(profile_secrets(profile, base_url, key))
        self._timing = timing or Timing()

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        fields: Mapping[str, JsonValue],
        step: int = 1,
        deadline: float | None = None,
    ) -> Reply:
        """Send one request, repeat it by the retry policy, and read the answer.

        Raises:
            EndpointError: No answer of the model was had.
        """
        refusal = self._gate.refusal()
        if refusal is not None:
            raise EndpointError(refusal)
        body = request_body(self._profile, messages, fields)
        request = _Request(self, body, step=step, deadline=self._deadline(deadline))
        try:
            reply = await request.run()
        except EndpointError as error:
            self._gate.failed(error.error)
            raise
        self._gate.succeeded()
        return reply

    def _deadline(self, case_deadline: float | None) -> float:
        own = self._timing.clock.monotonic() + self._profile.request_deadline_s
        return own if case_deadline is None else min(own, case_deadline)


class _Request:
    """One request with its tries."""

    def __init__(
        self, owner: OpenAIClient, body: dict[str, JsonValue], *, step: int, deadline: float
    ) -> None:
        self._owner = owner
        self._profile = owner._profile
        self._timing = owner._timing
        # The same bytes for every try; ASCII, so that a lone surrogate can be sent back.
        self._content = json.dumps(body, allow_nan=False, separators=(",", ":")).encode("ascii")
        self._asked = _asked(self._profile, body, step)
        self._deadline = deadline
        self._attempts: list[Attempt] = []
        self._timed_out = False

    async def run(self) -> Reply:
        tries = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception(_is_repeated),
            wait=_planned_wait,
            stop=tenacity.stop_never,
            sleep=self._timing.sleep,
            reraise=True,
        )
        try:
            return await tries(self._try)
        except _TryFailedError as failed:
            raise self._error(failed) from None

    def _error(self, failed: _TryFailedError) -> EndpointError:
        problem, plan = failed.problem, failed.plan
        code = problem.code
        if plan.limited:
            code = ErrorCode.QUOTA if problem.names_day else ErrorCode.RATE_LIMITED
        exchange = None
        if self._attempts:
            exchange = Exchange(step=self._asked.step, status=problem.status)
        return EndpointError(
            problem.to_error(note=plan.reason, code=code),
            attempts=self._attempts,
            exchange=exchange,
            flags=problem.flags,
        )

    def _time_left(self) -> float:
        return self._deadline - self._timing.clock.monotonic()

    async def _try(self) -> Reply:
        await self._pass_gate()
        clock = self._timing.clock
        started_at, began = clock.now(), clock.monotonic()
        outcome = await send(
            self._owner._http,
            self._owner._url,
            headers=self._owner.headers,
            content=self._content,
            timeout_s=max(0.001, min(self._profile.timeout_s, self._time_left())),
            redactor=self._owner.redactor,
        )
        result = outcome.result
        read = read_response(result, self._asked) if isinstance(result, Response) else result
        if isinstance(read, Reply):
            hops = tuple(f"redirected to {path}" for path in outcome.hops)
            return replace(read, attempts=tuple(self._attempts), warnings=(*read.warnings, *hops))
        plan = self._plan(read, outcome.received)
        attempt = self._attempt(read, plan, outcome.received)
        elapsed_ms = round((clock.monotonic() - began) * 1000, 3)
        self._attempts.append(replace(attempt, started_at=started_at, elapsed_ms=elapsed_ms))
        raise _TryFailedError(read, plan)

    async def _pass_gate(self) -> None:
        waited = await self._owner._gate.wait(
            self._timing.clock,
            self._timing.sleep,
            self._timing.random,
            time_left_s=self._time_left(),
        )
        if waited < 0 or self._time_left() <= 0:
            problem = Problem(
                code=ErrorCode.RATE_LIMITED if waited < 0 else ErrorCode.TIMEOUT,
                message="the deadline came before the request could be sent",
                fault=Fault.PROVIDER if waited < 0 else Fault.UNCLEAR,
            )
            raise _TryFailedError(problem, Plan(wait_s=None))

    def _plan(self, problem: Problem, response: Response | None) -> Plan:
        self._timed_out = self._timed_out or problem.timed_out
        headers = response.headers if response else {}
        hint = _hint(response, now=self._timing.clock.epoch()) if problem.repeatable else None
        plan = plan_repeat(
            number=len(self._attempts) + 1,
            retries=self._profile.retries,
            repeatable=problem.repeatable,
            timed_out=self._timed_out,
            hint=hint,
            headers=headers,
            time_left_s=self._time_left(),
            random=self._timing.random,
        )
        if problem.status == 429 and hint is not None and not plan.limited:
            self._owner._gate.pause(hint.seconds, self._timing.clock)
        return plan

    def _attempt(self, problem: Problem, plan: Plan, response: Response | None) -> Attempt:
        body, encoding = None, None
        if response is not None:
            body, encoding = shown_body(response.body, cap=_ATTEMPT_BODY)
        return Attempt(
            step=self._asked.step,
            number=len(self._attempts) + 1,
            status=problem.status,
            exception=problem.exception,
            code=problem.code,
            wait_s=None if plan.wait_s is None else round(plan.wait_s, 3),
            hint=plan.hint.source if plan.hint else None,
            headers=response.headers if response else None,
            body=body,
            body_encoding=encoding,
        )


def _is_repeated(error: BaseException) -> bool:
    return isinstance(error, _TryFailedError) and error.plan.wait_s is not None


def _planned_wait(state: tenacity.RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    return error.plan.wait_s or 0.0 if isinstance(error, _TryFailedError) else 0.0


def _hint(response: Response | None, *, now: float) -> Hint | None:
    if response is None:
        return None
    try:
        body = read_json_body(response.body)
    except JsonFault:
        body = response.body[:20_000].decode("utf-8", "replace")
    return parse_hint(response.headers, body, now=now)


def _asked(profile: ModelProfile, body: Mapping[str, JsonValue], step: int) -> Asked:
    limit = body.get("max_completion_tokens") or body.get("max_tokens")
    return Asked(
        # A local server answers with the name of its file.
        model=None if profile.gguf else str(body["model"]),
        step=step,
        limit=limit if isinstance(limit, int) else None,
    )


def request_body(
    profile: ModelProfile, messages: Sequence[Message], fields: Mapping[str, JsonValue]
) -> dict[str, JsonValue]:
    """The body of a request: nothing but what was asked for."""
    body: dict[str, JsonValue] = {"model": profile.slug, "messages": list(messages), **fields}
    if profile.temperature != "omit":
        body["temperature"] = profile.temperature
    if profile.max_tokens is not None:
        body["max_tokens"] = profile.max_tokens
    return {**body, **profile.extra_body}


def completions_url(base_url: str) -> str:
    """Where completions are asked for: under the base URL, its query kept, no user name in it."""
    parts = urlsplit(base_url)
    host = parts.netloc.rpartition("@")[2]
    path = parts.path.rstrip("/")
    return urlunsplit((parts.scheme, host, f"{path}/chat/completions", parts.query, ""))


def models_url(base_url: str) -> str:
    """Where the list of models is, which a server that is loading does not give out yet."""
    return completions_url(base_url).replace("/chat/completions", "/models")


def request_headers(profile: ModelProfile, base_url: str, key: Secret | None) -> dict[str, str]:
    """The headers of a request; those of the profile come last and win."""
    headers = {
        "accept": "application/json",
        "accept-encoding": ACCEPTED_ENCODINGS,
        "content-type": "application/json",
    }
    user = userinfo(base_url)
    if key is not None:
        headers["authorization"] = f"Bearer {key.reveal()}"
    elif user:
        headers["authorization"] = f"Basic {base64.b64encode(user.encode()).decode('ascii')}"
    own = {name.lower(): value for name, value in profile.extra_headers.items()}
    return {**headers, **own}
