"""What an endpoint's refusal means, whatever shape it comes in."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fc_eval.agent.protocol import Reply
from fc_eval.client.classify import Problem, Response
from fc_eval.client.wire import Asked, read_response
from fc_eval.records.run import ErrorCode, ErrorKind, Fault


def _read(status: int, body: Any, **headers: str) -> Reply | Problem:
    data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    return read_response(Response(status=status, headers=headers, body=data), Asked(model="m"))


def _problem(status: int, body: Any) -> Problem:
    read = _read(status, body)
    assert isinstance(read, Problem)
    return read


def _error(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


@pytest.mark.parametrize(
    ("status", "body", "code", "fault", "repeatable"),
    [
        # by status
        pytest.param(401, _error("bad key"), "auth", "client", False, id="401"),
        pytest.param(403, _error("not allowed"), "auth", "client", False, id="403"),
        pytest.param(403, _error("flagged by moderation"), "content_filter", "provider", False,
                     id="403-about-moderation"),
        pytest.param(402, _error("no credits"), "quota", "client", False, id="402"),
        pytest.param(404, _error("no such model"), "not_found", "client", False, id="404"),
        pytest.param(404, _error("No endpoints found that support tool use."),
                     "tools_unsupported", "client", False, id="404-about-tools"),
        pytest.param(400, _error("bad"), "request_rejected", "client", False, id="400"),
        pytest.param(405, "", "request_rejected", "client", False, id="405"),
        pytest.param(413, _error("too large"), "request_rejected", "client", False, id="413"),
        pytest.param(422, _error("no"), "request_rejected", "client", False, id="422"),
        pytest.param(408, _error("slow"), "api_error", "provider", True, id="408"),
        pytest.param(409, _error("busy"), "api_error", "provider", True, id="409"),
        pytest.param(425, _error("early"), "api_error", "provider", True, id="425"),
        pytest.param(429, _error("slow down"), "rate_limited", "provider", True, id="429"),
        pytest.param(500, _error("oops"), "api_error", "provider", True, id="500"),
        pytest.param(524, "", "api_error", "provider", True, id="524-without-a-body"),
        pytest.param(529, _error("overloaded"), "api_error", "provider", True, id="529"),
        pytest.param(599, "", "api_error", "provider", True, id="599"),
        pytest.param(600, "", "api_error", "provider", False, id="600-is-no-status"),
        # limits that no wait mends
        pytest.param(429, _error("x", code="insufficient_quota"), "quota", "client", False,
                     id="429-with-a-code-of-quota"),
        pytest.param(429, _error("x", type="insufficient_quota"), "quota", "client", False,
                     id="429-with-a-type-of-quota"),
        pytest.param(503, _error("x", code="insufficient_quota"), "quota", "client", False,
                     id="quota-under-any-status"),
        pytest.param(429, _error("Rate limit exceeded: free-models-per-day"), "quota", "client",
                     False, id="429-of-a-day"),
        pytest.param(429, _error("daily limit reached"), "quota", "client", False, id="429-daily"),
        pytest.param(429, _error("monthly limit"), "quota", "client", False, id="429-monthly"),
        pytest.param(429, _error("20 requests per minute"), "rate_limited", "provider", True,
                     id="429-of-a-minute"),
        pytest.param(429, _error("check quota", status="RESOURCE_EXHAUSTED"), "rate_limited",
                     "provider", True, id="429-that-only-speaks-of-quota"),
        # 400 by its words
        pytest.param(400, _error("x", code="context_length_exceeded"), "context_length",
                     "unclear", False, id="context-length-by-code"),
        pytest.param(400, _error("This model's maximum context length is 8192 tokens."),
                     "context_length", "unclear", False, id="context-length-by-text"),
        pytest.param(413, _error("prompt is too long: 9 tokens > 8"), "context_length", "unclear",
                     False, id="413-about-the-prompt"),
        pytest.param(400, _error("x", code="content_filter"), "content_filter", "provider", False,
                     id="content-filter-by-code"),
        pytest.param(400, _error("triggered content management policy"), "content_filter",
                     "provider", False, id="content-filter-by-text"),
        pytest.param(400, _error("model m does not support tools"), "tools_unsupported", "client",
                     False, id="no-tools"),
        pytest.param(400, {"message": "needs --enable-auto-tool-choice", "code": 400},
                     "tools_unsupported", "client", False, id="no-parser"),
        pytest.param(400, _error("Function calling is not supported by this model"),
                     "tools_unsupported", "client", False, id="no-function-calling"),
        pytest.param(400, _error("Invalid schema for function 't': x"), "schema_rejected",
                     "client", False, id="an-invalid-schema"),
        pytest.param(400, _error("x", param="tools[0].function.parameters"), "schema_rejected",
                     "client", False, id="a-parameter-that-names-tools"),
        pytest.param(400, [_error("unknown name default at function_declarations[0]")],
                     "schema_rejected", "client", False, id="in-a-list"),
        pytest.param(422, {"detail": [{"loc": ["body", "tools", 0, "function"], "msg": "no"}]},
                     "schema_rejected", "client", False, id="a-detail-that-names-tools"),
        pytest.param(400, _error("messages[3].tool_calls[0].function.name: bad"),
                     "request_rejected", "client", False, id="a-fault-in-the-history"),
        pytest.param(400, _error("Unsupported parameter: 'temperature'"), "request_rejected",
                     "client", False, id="another-parameter"),
        pytest.param(400, _error("response_format: json schema is not supported"),
                     "request_rejected", "client", False, id="a-schema-of-the-answer"),
        # shapes
        pytest.param(404, {"error": "no model m"}, "not_found", "client", False, id="a-string"),
        pytest.param(400, {"detail": "bad"}, "request_rejected", "client", False, id="a-detail"),
        pytest.param(400, "[]", "request_rejected", "client", False, id="an-empty-list"),
        pytest.param(400, "null", "request_rejected", "client", False, id="null"),
        pytest.param(400, '"bad"', "request_rejected", "client", False, id="a-json-string"),
        pytest.param(502, "<html><title>Bad gateway</title></html>", "api_error", "provider",
                     True, id="a-page"),
        # an error in a 200
        pytest.param(200, _error("x", code=502), "api_error", "provider", True, id="200-with-502"),
        pytest.param(200, _error("x", code="429"), "rate_limited", "provider", True,
                     id="200-with-a-code-as-text"),
        pytest.param(200, _error("x"), "api_error", "provider", True, id="200-with-no-code"),
        pytest.param(200, _error("x", code=400), "request_rejected", "provider", False,
                     id="200-with-400"),
        pytest.param(200, _error("x", type="invalid_request_error", code="invalid_api_key"),
                     "auth", "client", False, id="200-with-the-telling-of-two-words"),
        pytest.param(200, _error("x", status="UNAVAILABLE"), "api_error", "provider", True,
                     id="200-with-a-status-word"),
        pytest.param(200, {"error": "overloaded", "choices": []}, "api_error", "provider", True,
                     id="200-with-no-choices"),
    ],
)  # fmt: skip
def test_refusals(status: int, body: Any, code: str, fault: str, repeatable: bool) -> None:
    problem = _problem(status, body)

    assert (problem.code, problem.fault) == (ErrorCode(code), Fault(fault))
    assert problem.repeatable == repeatable
    assert problem.status == status


@pytest.mark.parametrize(
    ("body", "text"),
    [
        pytest.param(_error("no\n\n luck"), "HTTP 400: no luck", id="in-one-line"),
        pytest.param({"error": "no luck"}, "HTTP 400: no luck", id="a-string"),
        pytest.param({"detail": "no luck"}, "HTTP 400: no luck", id="a-detail"),
        pytest.param({"detail": [{"msg": "no luck"}]}, "HTTP 400: no luck", id="a-list-of-details"),
        pytest.param({"message": "no luck"}, "HTTP 400: no luck", id="without-an-envelope"),
        pytest.param("<h1>no luck</h1> or so", "HTTP 400: no luck", id="a-page"),
        pytest.param("", "HTTP 400: no text", id="nothing"),
    ],
)
def test_the_text_can_be_read(body: Any, text: str) -> None:
    assert _problem(400, body).message == text


@pytest.mark.parametrize(
    ("status", "text"),
    [
        pytest.param(400, "does not support tools", id="tools"),
        pytest.param(504, "a proxy", id="proxy"),
    ],
)
def test_advice(status: int, text: str) -> None:
    message = _problem(status, _error("model m does not support tools")).message

    assert "--tool-call-parser" in message or "time limit" in message


@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize(
    ("error", "raw"),
    [
        pytest.param({"code": "tool_use_failed", "failed_generation": "t{"}, "t{", id="its-text"),
        pytest.param({"code": "tool_use_failed"}, None, id="no-text"),
        pytest.param({"failed_generation": ""}, "", id="no-code"),
    ],
)
def test_a_broken_generation_is_the_models_call(
    status: int, error: dict[str, Any], raw: str | None
) -> None:
    reply = _read(status, {"error": {"message": "bad call", **error}})

    assert isinstance(reply, Reply)
    assert reply.broken
    assert [(call.tool, call.arguments, call.arguments_raw) for call in reply.calls] == [
        (None, None, raw)
    ]


def test_the_kind_of_an_error() -> None:
    problem = _problem(401, _error("x"))

    assert problem.to_error().kind is ErrorKind.API_ERROR
    assert problem.to_error(code=ErrorCode.TIMEOUT).kind is ErrorKind.TIMEOUT
    assert problem.to_error(note="again").message.endswith("(again)")
