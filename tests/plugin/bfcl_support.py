"""A tiny data folder in BFCL's layout, and a model on loopback that answers what it is told to.

A question's text is the JSON of the message that the model answers with.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.bfcl.support import call, function, write_lines

AREA = function(
    "shape.area",
    {"base": {"type": "integer"}, "unit": {"type": "string"}},
    required=["base"],
)
LABEL = {"shape.area": {"base": [10], "unit": ["cm", ""]}}

RIGHT = call("shape_area", base=10)
WRONG = call("shape_area", base=11)
MALFORMED = {"name": "shape_area", "arguments": '{"base": 10'}


def says(*calls: dict[str, Any], content: str | None = None) -> str:
    """The question to which the model makes *calls*, or says *content*."""
    tool_calls = [
        {"id": f"c{number}", "type": "function", "function": item}
        for number, item in enumerate(calls)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": content}
    return json.dumps({**message, "tool_calls": tool_calls} if calls else message)


def entry(name: str, question: str, functions: list[Any] | None = None) -> dict[str, Any]:
    """A data line."""
    messages = [[{"role": "user", "content": question}]]
    return {"id": name, "question": messages, "function": functions or [AREA]}


def write_data(folder: Path) -> Path:
    """Three subsets of a few entries each; the package folder."""
    data = folder / "bfcl_eval" / "data"
    subsets: dict[str, list[tuple[str, Any]]] = {
        "simple_python": [
            (says(RIGHT), [LABEL]),
            (says(WRONG), [LABEL]),
            (says(MALFORMED), [LABEL]),
        ],
        "parallel": [(says(RIGHT, RIGHT), [LABEL, LABEL]), (says(RIGHT, MALFORMED), [LABEL] * 2)],
        "irrelevance": [(says(content="No idea."), None), (says(WRONG), None)],
    }
    for subset, rows in subsets.items():
        lines = [entry(f"{subset}_{number}", row[0]) for number, row in enumerate(rows)]
        write_lines(data / f"BFCL_v4_{subset}.json", lines)
        if subset != "irrelevance":
            labels = [
                {"id": f"{subset}_{number}", "ground_truth": row[1]}
                for number, row in enumerate(rows)
            ]
            write_lines(data / "possible_answer" / f"BFCL_v4_{subset}.json", labels)
    return data.parent


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append(body)  # type: ignore[attr-defined]  # set where it is made
        message = json.loads(body["messages"][-1]["content"])
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        choice = {"index": 0, "message": message, "finish_reason": finish}
        answer = {
            "id": "x",
            "object": "chat.completion",
            "model": body["model"],
            "choices": [choice],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
        text = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def told_model() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The base URL of the model, and the requests that it gets."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Answers) as server:
        server.daemon_threads = True
        requests: list[dict[str, Any]] = []
        server.requests = requests  # type: ignore[attr-defined]  # read by the handler
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1", requests
        finally:
            server.shutdown()
            thread.join()
