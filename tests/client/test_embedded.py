"""The embedded endpoint: the shapes of its answers, good and bad."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest

from fc_eval.client.embedded import EmbeddedTransport

URL = "embedded://rules-v1/chat/completions"
TOOL = {
    "type": "function",
    "function": {
        "name": "get_order",
        "parameters": {
            "type": "object",
            "properties": {"order_id": {"type": "string"}},
            "required": ["order_id"],
        },
    },
}


def send(method: str, url: str, content: str) -> httpx.Response:
    async def sent() -> httpx.Response:
        async with httpx.AsyncClient(transport=EmbeddedTransport()) as client:
            return await client.request(method, url, content=content)

    return asyncio.run(sent())


def ask(text: str) -> Any:
    messages = [{"role": "system", "content": "Serve."}, {"role": "user", "content": text}]
    body = {"model": "embedded/rules-v1", "messages": messages, "tools": [TOOL]}
    response = send("POST", URL, json.dumps(body))
    assert response.status_code == 200
    return response.json()


def test_a_call_comes_as_tool_calls() -> None:
    answer = ask("订单W441到哪了？")

    choice = answer["choices"][0]
    function = choice["message"]["tool_calls"][0]["function"]
    assert choice["finish_reason"] == "tool_calls"
    assert (function["name"], json.loads(function["arguments"])) == (
        "get_order",
        {"order_id": "W441"},
    )


def test_a_text_comes_as_content() -> None:
    choice = ask("你好")["choices"][0]

    assert choice["finish_reason"] == "stop"
    assert choice["message"]["content"]
    assert "tool_calls" not in choice["message"]


def test_the_answer_names_its_model_and_no_tokens() -> None:
    answer = ask("你好")

    assert (answer["model"], answer["usage"]) == ("embedded/rules-v1", None)


@pytest.mark.parametrize(
    ("method", "url", "content", "status"),
    [
        pytest.param("POST", "embedded://rules-v1/models", "{}", 404, id="unknown-path"),
        pytest.param("GET", URL, "", 405, id="other-method"),
        pytest.param("POST", URL, "{", 400, id="no-json"),
        pytest.param("POST", URL, "[]", 400, id="no-object"),
        pytest.param("POST", URL, "{}", 400, id="no-messages"),
        pytest.param("POST", URL, '{"messages": [1], "model": "m"}', 400, id="no-message-object"),
        pytest.param("POST", URL, '{"messages": [], "tools": [{}]}', 400, id="no-tool-object"),
    ],
)
def test_what_is_no_request_gets_an_error_object(
    method: str, url: str, content: str, status: int
) -> None:
    response = send(method, url, content)

    assert response.status_code == status
    assert response.json()["error"]["message"]
