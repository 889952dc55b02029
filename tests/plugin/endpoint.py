"""A model of our own on loopback, in threads of the test, with a log of what it was asked."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.plugin.support import weather

JSON = {"Content-Type": "application/json"}
Answer = tuple[int, Mapping[str, str], bytes]


@dataclass(frozen=True)
class Asked:
    """One request: which case, its step from 0, its headers and path, when it came and went."""

    instruction: str
    step: int
    path: str
    headers: Mapping[str, str]
    came: float
    status: int = 0
    went: float = 0.0


@dataclass
class Endpoint:
    """Answers by `answer`; `log` has the requests that were answered, `peak` how many at once."""

    answer: Callable[[Asked], Answer]
    port: int = 0
    log: list[Asked] = field(default_factory=list)
    peak: int = 0
    _in_flight: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def serve(self, asked: Asked) -> Answer:
        with self._lock:
            self._in_flight += 1
            self.peak = max(self.peak, self._in_flight)
        try:
            answer = self.answer(asked)
        finally:
            with self._lock:
                self._in_flight -= 1
        done = {**vars(asked), "status": answer[0], "went": time.monotonic()}
        with self._lock:
            self.log.append(Asked(**done))
        return answer


@contextmanager
def endpoint(answer: Callable[[Asked], Answer]) -> Iterator[Endpoint]:
    """Serve *answer* on loopback."""
    served = Endpoint(answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            messages = body["messages"]
            status, headers, data = served.serve(
                Asked(
                    instruction=next(m["content"] for m in messages if m["role"] == "user"),
                    step=sum(m["role"] == "assistant" for m in messages),
                    path=self.path,
                    headers=dict(self.headers),
                    came=time.monotonic(),
                )
            )
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(data))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Nothing: the log is `served.log`."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

        def handle_error(self, *_: Any) -> None:
            """Nothing: clients that are killed hang up."""

    server = Server(("127.0.0.1", 0), Handler)
    served.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def completion(message: Mapping[str, Any], **fields: Any) -> Answer:
    """A whole answer with *message* in it."""
    body = {
        "id": "x",
        "model": "mock/m",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10},
    }
    return 200, JSON, json.dumps({**body, **fields}).encode()


def calling(name: str = "get_weather", arguments: object = '{"city": "Oslo"}') -> dict[str, Any]:
    """A message with one call."""
    function = {"name": name, "arguments": arguments}
    call = {"id": "c1", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def right(asked: Asked) -> Answer:
    """Call get_weather for Oslo, then answer."""
    return completion({"role": "assistant", "content": "Done."} if asked.step else calling())


def error(status: int, message: str = "no", **headers: str) -> Answer:
    """An error answer."""
    return status, {**JSON, **headers}, json.dumps({"error": {"message": message}}).encode()


def project(
    pytester: pytest.Pytester, base_url: str, *lines: dict[str, Any], **profile: Any
) -> Path:
    """The weather project with the agent loop over the model at *base_url*."""
    suite = weather(pytester, *lines)
    conftest = pytester.path / "conftest.py"
    conftest.write_text(conftest.read_text().partition("seen = {}")[0])
    settings = {"slug": "mock/m", "base_url": base_url, **profile}
    pytester.makepyprojecttoml(
        '[tool.fc_eval]\nmodel = "m"\n[tool.fc_eval.models.m]\n'
        + "".join(f"{name} = {_toml(value)}\n" for name, value in settings.items())
    )
    return suite


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(k)} = {_toml(v)}" for k, v in value.items()) + " }"
    return json.dumps(value)
