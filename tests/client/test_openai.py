"""Requests over real HTTP: what is sent, what is repeated, how long, and what never leaves."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import zlib
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from fc_eval.agent.loop import ModelAgent
from fc_eval.agent.profile import ModelProfile
from fc_eval.agent.protocol import EndpointError, Reply
from fc_eval.agent.run import run_case
from fc_eval.client.clock import SystemClock
from fc_eval.client.openai import (
    OpenAIClient,
    Timing,
    completions_url,
    models_url,
    request_body,
    request_headers,
)
from fc_eval.client.redact import MARK, Secret
from fc_eval.records.codec import canonical
from fc_eval.records.run import ErrorKind, Trace
from tests.agent.support import FakeClock, make_case
from tests.client.odd_server import OddServer, Script, serving
from tests.client.support import odd_domain, odd_profile, quick_timing

KEY = "sk-canary-0123456789/+x"


def _answer(content: Any = "hi", **message: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": content, **message}}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {"model": "odd/one", "choices": [{**choice, "finish_reason": "stop"}], "usage": usage}


OK = {"body": _answer()}


def _ask(
    *steps: Mapping[str, Any],
    times: int = 1,
    key: str | None = None,
    timing: Timing | None = None,
    deadline: float | None = None,
    **changes: Any,
) -> tuple[list[Reply | EndpointError], Script]:
    """What a client makes of some answers, and the requests that it sent for them."""
    script = Script(steps=[dict(step) for step in steps])

    async def main() -> list[Reply | EndpointError]:
        async with serving({"odd/one": script}) as server, httpx.AsyncClient(timeout=None) as http:
            url = changes.pop("base_url", "{}").format(server.base_url)
            profile = odd_profile("odd/one", url, **changes)
            client = OpenAIClient(
                http,
                profile,
                base_url=url,
                key=Secret(key) if key else None,
                timing=timing or quick_timing(),
            )
            return [await _one(client, deadline) for _ in range(times)]

    return asyncio.run(main()), script


async def _one(client: OpenAIClient, deadline: float | None) -> Reply | EndpointError:
    try:
        return await client.complete(
            [{"role": "user", "content": "hello"}], fields={}, deadline=deadline
        )
    except EndpointError as error:
        return error


def _error(*steps: Mapping[str, Any], **options: Any) -> tuple[EndpointError, Script]:
    (result,), script = _ask(*steps, **options)
    assert isinstance(result, EndpointError), result
    return result, script


def _reply(*steps: Mapping[str, Any], **options: Any) -> tuple[Reply, Script]:
    (result,), script = _ask(*steps, **options)
    assert isinstance(result, Reply), result
    return result, script


# --- what is sent


def test_a_request_has_only_what_was_asked_for() -> None:
    _, script = _reply(OK)

    (request,) = script.requests
    assert request.path == "/v1/chat/completions"
    assert request.body == {
        "model": "odd/one",
        "messages": [{"role": "user", "content": "hello"}],
        "temperature": 0.0,
    }
    assert "authorization" not in request.headers
    assert request.headers["accept-encoding"] == "gzip, deflate"


@pytest.mark.parametrize(
    ("changes", "body"),
    [
        pytest.param({"temperature": "omit"}, {}, id="no-temperature"),
        pytest.param({"temperature": 0.7}, {"temperature": 0.7}, id="a-temperature"),
        pytest.param(
            {"max_tokens": 9}, {"temperature": 0.0, "max_tokens": 9}, id="a-limit-of-tokens"
        ),
        pytest.param(
            {"extra_body": {"provider": {"order": ["x"]}, "temperature": 1}},
            {"temperature": 1, "provider": {"order": ["x"]}},
            id="the-profiles-own-fields-win",
        ),
    ],
)
def test_request_body(changes: dict[str, Any], body: dict[str, Any]) -> None:
    profile = ModelProfile(name="m", slug="m", base_url="http://x/v1", **changes)

    assert request_body(profile, [], {}) == {"model": "m", "messages": [], **body}


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        pytest.param("https://h/v1", "https://h/v1/chat/completions", id="plain"),
        pytest.param("https://h/v1/", "https://h/v1/chat/completions", id="a-slash-at-the-end"),
        pytest.param("https://h:8/", "https://h:8/chat/completions", id="no-path"),
        pytest.param("https://h/v1?v=2", "https://h/v1/chat/completions?v=2", id="a-query"),
        pytest.param("https://u:p@h/v1", "https://h/v1/chat/completions", id="a-user-name"),
    ],
)
def test_urls(base_url: str, url: str) -> None:
    assert completions_url(base_url) == url
    assert models_url(base_url) == url.replace("chat/completions", "models")


@pytest.mark.parametrize(
    ("base_url", "key", "own", "sent"),
    [
        pytest.param("http://h", "k-123456", {}, "Bearer k-123456", id="a-key"),
        pytest.param("http://h", None, {}, None, id="none"),
        pytest.param("http://u:p%2Fw@h", None, {}, "Basic dTpwL3c=", id="a-user-name-in-the-url"),
        pytest.param("http://u:p@h", "k-123456", {}, "Bearer k-123456", id="a-key-before-it"),
        pytest.param("http://h", "k-123456", {"Authorization": "x"}, "x", id="the-profiles-own"),
    ],
)
def test_authorization(
    base_url: str, key: str | None, own: dict[str, str], sent: str | None
) -> None:
    profile = ModelProfile(name="m", slug="m", base_url=base_url, extra_headers=own)

    headers = request_headers(profile, base_url, Secret(key) if key else None)

    assert headers.get("authorization") == sent


def test_the_profiles_headers_are_sent() -> None:
    _, script = _reply(OK, extra_headers={"X-Team": "shop"})

    assert script.requests[0].headers["x-team"] == "shop"


# --- repeats and waits


def _status(status: int, **headers: str) -> dict[str, Any]:
    return {"status": status, "headers": headers, "body": {"error": {"message": "no"}}}


def test_every_failed_try_is_kept() -> None:
    reply, script = _reply(_status(503), _status(429, **{"Retry-After": "0"}), OK)

    assert [(item.number, item.status, item.code) for item in reply.attempts] == [
        (1, 503, "api_error"),
        (2, 429, "rate_limited"),
    ]
    assert [item.hint for item in reply.attempts] == [None, "retry-after"]
    assert all(item.wait_s is not None and item.body for item in reply.attempts)
    assert len({request.raw for request in script.requests}) == 1


@pytest.mark.parametrize(
    ("retries", "requests"), [pytest.param(0, 1, id="none"), pytest.param(2, 3, id="two")]
)
def test_the_number_of_repeats_is_the_profiles(retries: int, requests: int) -> None:
    error, script = _error(_status(500) | {"repeat": "forever"}, retries=retries)

    assert len(script.requests) == len(error.attempts) == requests
    assert (error.error.code, error.error.http_status) == ("api_error", 500)
    assert error.attempts[-1].wait_s is None


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param("slow down", "rate_limited", id="a-long-wait"),
        pytest.param("the limit of this day", "quota", id="a-day"),
    ],
)
def test_a_wait_that_is_too_long_is_the_end(text: str, code: str) -> None:
    step = _status(503, **{"Retry-After": "3600"}) | {"body": {"error": {"message": text}}}

    error, script = _error(step | {"repeat": "forever"})

    assert len(script.requests) == 1
    assert error.error.code == code
    assert "3600 s" in error.error.message


def test_waits_are_those_of_the_plan() -> None:
    clock = FakeClock()
    timing = Timing(clock=clock, sleep=clock.sleep, random=lambda: 1.0)

    reply, _ = _reply(_status(500), _status(500), _status(500), OK, timing=timing)

    assert [item.wait_s for item in reply.attempts] == [1.0, 2.0, 4.0]
    assert clock.seconds == 7.0


def test_nothing_is_begun_after_the_deadline() -> None:
    clock = FakeClock()
    timing = Timing(clock=clock, sleep=clock.sleep, random=lambda: 1.0)

    error, script = _error(_status(500) | {"repeat": "forever"}, timing=timing, deadline=2.5)

    assert len(script.requests) == 2
    assert "deadline" in error.error.message
    assert error.error.code == "api_error"


def test_nothing_is_sent_after_the_deadline() -> None:
    error, script = _error(OK, deadline=0.0)

    assert script.requests == []
    assert (error.error.kind, error.exchange) == (ErrorKind.TIMEOUT, None)


SILENT = {"mode": "hang", "repeat": "forever"}
DRIP = {**OK, "mode": "drip", "chunk": 1, "delay_s": 0.05, "repeat": "forever"}


@pytest.mark.parametrize("step", [SILENT, DRIP], ids=["silence", "a-drip"])
def test_a_try_has_one_deadline_for_all_of_it(step: dict[str, Any]) -> None:
    error, script = _error(step, timeout_s=0.3)

    assert (error.error.kind, error.error.code) == (ErrorKind.TIMEOUT, "timeout")
    assert len(script.requests) == 2
    assert [item.exception for item in error.attempts] == ["timeout", "timeout"]


def test_a_slow_answer_within_its_time_is_an_answer() -> None:
    reply, _ = _reply({**OK, "mode": "drip", "chunk": 60, "delay_s": 0.01}, timeout_s=10.0)

    assert reply.text == "hi"


# --- bodies


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        pytest.param("gzip", gzip.compress, id="gzip"),
        pytest.param("deflate", zlib.compress, id="deflate"),
        pytest.param("deflate", lambda data: zlib.compress(data)[2:-4], id="bare-deflate"),
        pytest.param("identity", bytes, id="identity"),
    ],
)
def test_codings_that_can_be_undone(encoding: str, pack: Any) -> None:
    body = base64.b64encode(pack(json.dumps(_answer()).encode())).decode()

    reply, _ = _reply({"body_b64": body, "headers": {"Content-Encoding": encoding}})

    assert reply.text == "hi"


@pytest.mark.parametrize(
    ("encoding", "data"),
    [
        pytest.param("gzip", b"{}", id="no-gzip"),
        pytest.param("gzip", gzip.compress(b'{"choices": []}')[:-6], id="gzip-that-is-cut"),
        pytest.param("br", b"{}", id="a-coding-that-was-not-asked-for"),
        pytest.param("gzip, br", b"{}", id="two-codings"),
    ],
)
def test_codings_that_cannot_be_undone(encoding: str, data: bytes) -> None:
    step = {"body_b64": base64.b64encode(data).decode(), "headers": {"Content-Encoding": encoding}}

    reply, script = _reply(step, OK)

    assert len(script.requests) == 2
    assert reply.attempts[0].code == "bad_response"


def test_a_body_beyond_the_cap_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fc_eval.client.transport.BODY_CAP", 1 << 20)
    bomb = base64.b64encode(gzip.compress(b" " * (8 << 20))).decode()
    step = {"body_b64": bomb, "headers": {"Content-Encoding": "gzip"}, "repeat": "forever"}

    error, _ = _error(step, retries=0)

    assert error.error.code == "bad_response"
    assert "larger than" in error.error.message
    assert len(error.attempts[0].body or "") <= 1 << 20


def test_bytes_that_are_no_text_are_kept_as_base64() -> None:
    data = b'\xff\xfe{"choices": []}'
    step = {"body_b64": base64.b64encode(data).decode(), "repeat": "forever"}

    error, _ = _error(step, retries=0)

    (attempt,) = error.attempts
    assert attempt.body_encoding == "base64"
    assert base64.b64decode(attempt.body or "") == data


@pytest.mark.parametrize("mode", ["cut", "chunked_cut", "reset_body"])
def test_a_part_of_an_answer_is_never_read(mode: str) -> None:
    reply, script = _reply({**OK, "mode": mode, "cut_at": 40}, OK)

    assert len(script.requests) == 2
    (attempt,) = reply.attempts
    assert (attempt.code, attempt.status) == ("connection", None)
    assert attempt.exception is not None


# --- redirects


def _to(location: str, status: int = 307) -> dict[str, Any]:
    return {"status": status, "headers": {"Location": location}, "body": ""}


@pytest.mark.parametrize("status", [307, 308])
def test_a_redirect_on_the_same_server_is_followed(status: int) -> None:
    reply, script = _reply(_to("/v2/chat/completions", status), OK, key=KEY)

    assert [request.path for request in script.requests][1] == "/v2/chat/completions"
    assert script.requests[1].headers["authorization"] == f"Bearer {KEY}"
    assert script.requests[0].raw == script.requests[1].raw
    assert reply.attempts == ()
    assert reply.warnings == ("redirected to /v2/chat/completions",)


@pytest.mark.parametrize(
    ("step", "requests"),
    [
        pytest.param(_to("/v2/chat/completions", 301), 1, id="301"),
        pytest.param(_to("/v2/chat/completions", 302), 1, id="302"),
        pytest.param(_to("/v2/chat/completions", 303), 1, id="303"),
        pytest.param(_to("http://127.0.0.2:1/v1"), 1, id="another-host"),
        pytest.param(_to("http://127.0.0.1:1/v1"), 1, id="another-port"),
        pytest.param(_to("https://127.0.0.1/v1"), 1, id="another-scheme"),
        pytest.param(_to("http://[bad"), 1, id="no-url"),
        pytest.param({"status": 307, "headers": {}, "body": ""}, 1, id="no-location"),
        pytest.param(_to("/a/chat/completions") | {"repeat": "forever"}, 4, id="in-circles"),
    ],
)
def test_other_redirects_are_not_followed(step: dict[str, Any], requests: int) -> None:
    error, script = _error(step)

    assert error.error.code == "redirect"
    assert len(script.requests) == requests


# --- requests of one client


def test_after_a_refused_key_nothing_is_sent() -> None:
    results, script = _ask(_status(401) | {"repeat": "forever"}, times=3)

    codes = [item.error.code for item in results if isinstance(item, EndpointError)]
    assert codes == ["auth", "not_run", "not_run"]
    assert len(script.requests) == 1


def test_after_three_cases_without_a_connection_nothing_is_sent() -> None:
    results, script = _ask({"mode": "close", "repeat": "forever"}, times=4, retries=0)

    codes = [item.error.code for item in results if isinstance(item, EndpointError)]
    assert codes == ["connection"] * 3 + ["not_run"]
    assert len(script.requests) == 3


def test_nobody_listens() -> None:
    error, _ = _error(OK, base_url="http://127.0.0.1:9/v1")

    assert (error.error.code, len(error.attempts)) == ("connection", 4)


@pytest.mark.parametrize(
    "headers", [{"x-a": "line\nbreak"}, {"x-a": "\u2026"}], ids=["a-newline", "no-ascii"]
)
def test_a_header_that_cannot_be_sent(headers: dict[str, str]) -> None:
    error, script = _error(OK, extra_headers=headers)

    assert (error.error.code, script.requests) == ("request_rejected", [])


# --- secrets and hostile answers


def _run(*steps: Mapping[str, Any], key: str | None = None, **changes: Any) -> tuple[Trace, Script]:
    script = Script(steps=[dict(step) for step in steps])

    async def main(server: OddServer, http: httpx.AsyncClient) -> Trace:
        profile = odd_profile("odd/one", server.base_url, **changes)
        client = OpenAIClient(
            http,
            profile,
            base_url=server.base_url,
            key=Secret(key) if key else None,
            timing=quick_timing(),
        )
        agent = ModelAgent(client, profile)
        return await run_case(make_case(), domain=odd_domain(), agent=agent, clock=SystemClock())

    async def serve() -> Trace:
        async with serving({"odd/one": script}) as server, httpx.AsyncClient(timeout=None) as http:
            return await main(server, http)

    return asyncio.run(serve()), script


def _call(arguments: Any, name: Any = "get_order") -> dict[str, Any]:
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}


ESCAPED = "".join(f"\\u{ord(character):04x}" for character in KEY)
LEAKS: dict[str, list[dict[str, Any]]] = {
    "in-an-error": [
        {"status": 401, "body": {"error": {"message": f"Incorrect API key provided: {KEY}"}}}
    ],
    "in-a-page": [{"status": 500, "body": f"<h1>{KEY}</h1>", "repeat": "forever"}],
    "in-headers": [
        {**OK, "headers": {"X-Echo": KEY, "Set-Cookie": f"a={KEY}", "Authorization": KEY}}
    ],
    "in-the-text": [{"body": _answer(f"your key is {KEY}")}],
    "in-the-reasoning": [{"body": _answer("a", reasoning_content=KEY)}],
    "in-arguments": [
        {"body": _answer(None, tool_calls=[_call(json.dumps({"order_id": KEY}))])},
        OK,
    ],
    "in-escaped-arguments": [
        {"body": _answer(None, tool_calls=[_call(f'{{"order_id": "{ESCAPED}"}}')])},
        OK,
    ],
    "in-a-name": [{"body": _answer(None, tool_calls=[_call("{}", name=KEY)])}, OK],
    "in-base64": [{"body": _answer(base64.b64encode(f"x:{KEY}".encode()).decode())}],
    "in-a-redirect": [_to(f"/{KEY}", 302)],
    "in-bytes": [
        {"body_b64": base64.b64encode(b"\xff" + KEY.encode()).decode(), "repeat": "forever"}
    ],
    "in-a-hint": [_status(429, **{"Retry-After": KEY}) | {"repeat": "forever"}],
    "in-a-model-name": [{"body": {**_answer(), "model": KEY, "provider": KEY}}],
}


@pytest.mark.parametrize("steps", LEAKS.values(), ids=LEAKS.keys())
def test_a_key_that_comes_back_is_not_recorded(steps: list[dict[str, Any]]) -> None:
    trace, script = _run(*steps, key=KEY)

    plain = canonical(trace.to_dict())
    decoded = "".join(
        base64.b64decode(item.body or "").decode("latin-1")
        for item in trace.attempts
        if item.body_encoding == "base64"
    )
    encoded = base64.b64encode(f"x:{KEY}".encode()).decode()[4:-4]
    assert script.requests[0].headers["authorization"] == f"Bearer {KEY}"
    for shown in (plain, repr(json.loads(plain)), decoded):
        assert KEY not in shown
        assert KEY.replace("/", "\\/") not in shown
        assert ESCAPED not in shown.replace("\\\\", "\\")
        assert encoded not in shown
    assert MARK in plain + decoded


@pytest.mark.parametrize(
    ("arguments", "known"),
    [
        pytest.param('{"order_id": "\\ud800"}', True, id="half-a-surrogate-pair"),
        pytest.param('{"order_id": "\ud800"}', True, id="half-a-pair-as-it-is"),
        pytest.param('{"order_id": "\u0000\u001b[31m"}', False, id="raw-control-characters"),
        pytest.param('{"order_id": "\\u0000\\u001b[31m"}', True, id="control-characters"),
        pytest.param(json.dumps({"order_id": "x" * 2_000_000}), True, id="megabytes"),
        pytest.param("[" * 10_000, False, id="ten-thousand-lists"),
        pytest.param('{"a":' * 10_000, False, id="ten-thousand-objects"),
        pytest.param("9" * 100_000, False, id="a-number-without-end"),
        pytest.param({"order_id": {"a": [[[]]]}}, True, id="an-object-in-place-of-a-text"),
    ],
)
def test_hostile_arguments_make_one_call_and_no_trouble(arguments: Any, known: bool) -> None:
    step = {"body": _answer(None, tool_calls=[_call(arguments)]), "ascii": True}

    trace, script = _run(step)

    assert trace.error is None
    (call,) = trace.calls
    assert (call.arguments is not None) == known
    assert len(script.requests) == 2
    assert Trace.from_dict(json.loads(canonical(trace.to_dict()))) == trace


def test_hostile_bodies_are_no_answers() -> None:
    deep = "[" * 200_000
    wrapped = '{"choices": ' + deep

    reply, _ = _reply({"body": deep}, {"body": wrapped}, {"body": "\u0000"}, OK)

    assert reply.text == "hi"
    assert [item.code for item in reply.attempts] == ["bad_response"] * 3
