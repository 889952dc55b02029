"""The chat-completions endpoint in front of the embedded agent: an httpx transport, no network.

A client that speaks to `embedded://rules-v1` is the client that speaks to any endpoint, on top of
this transport; so the embedded model takes every path that a real one takes. What the agent says
is decided in `domains.rules_agent`.
"""

from __future__ import annotations

import json
from typing import Any

import httpx

from fc_eval.domains.rules_agent import next_message

COMPLETIONS_PATH = "/chat/completions"


class EmbeddedTransport(httpx.AsyncBaseTransport):
    """Answers `POST .../chat/completions` by the rules agent, and all else as a server would.

    The agent counts no tokens, so `usage` is null.
    """

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer one request: 200, or 404, 405 and 400 with an error object."""
        if not request.url.path.endswith(COMPLETIONS_PATH):
            return _error(404, "not_found", f"no such path: {request.url.path}")
        if request.method != "POST":
            return _error(405, "method_not_allowed", "use POST")
        try:
            return _answer(200, complete(json.loads(await request.aread())))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            return _error(400, "invalid_request", f"{type(error).__name__}: {error}")


def complete(body: dict[str, Any]) -> dict[str, Any]:
    """The answer to the body of a chat-completions request; the same for the same body.

    Raises:
        ValueError, TypeError, KeyError, AttributeError: The body is no such request.
    """
    message = next_message(body["messages"], body.get("tools") or [])
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": "tool_calls" if message.get("tool_calls") else "stop",
    }
    return {
        "id": f"rules-{len(body['messages'])}",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [choice],
        "usage": None,
    }


def _error(status: int, code: str, message: str) -> httpx.Response:
    return _answer(status, {"error": {"message": message, "type": code, "code": code}})


def _answer(status: int, body: dict[str, Any]) -> httpx.Response:
    data = json.dumps(body).encode("ascii")
    headers = {"content-type": "application/json", "content-length": str(len(data))}
    # A stream, as a wire gives one; `json=` would make a response that is read already.
    return httpx.Response(status, headers=headers, stream=httpx.ByteStream(data))
