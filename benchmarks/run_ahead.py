"""How much of an endpoint's silence run-ahead fills: one case at a time against several in flight.

    python -m benchmarks.run_ahead

Both sides run the same suite in the same way against the same loopback server, which thinks for a
while before each answer; the ratio of their times is what counts, not the times.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

CASES = 64
THINKING_S = 0.2
CONCURRENCY = (1, 8, 16)

CONFTEST = """
import fc_eval


def pytest_fc_domain(config):
    function = {"name": "look", "parameters": {"type": "object", "properties": {}}}
    tools = [{"type": "function", "kind": "read", "function": function}]
    return fc_eval.Domain.build(tools=tools, sandbox={"look": lambda: {}})
"""


class Thinker(BaseHTTPRequestHandler):
    """Answers every question in words, after a while."""

    protocol_version = "HTTP/1.1"
    # Head and body in one packet: two small ones would wait for each other's acknowledgement.
    wbufsize = -1

    def do_POST(self) -> None:
        """One chat completion."""
        self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(THINKING_S)
        message = {"role": "assistant", "content": "Nothing to do."}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        body = json.dumps({"model": "thinker", "choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def lay_out(root: Path, port: int) -> None:
    """A project of `CASES` cases in which nothing is to be called."""
    golden = {"calls": [], "order_sensitive": False, "allowed_extra": []}
    lines = [
        {
            "id": f"case-{number:03}",
            "dimension": "D3",
            "category": "quiet",
            "instruction": f"Hello number {number}",
            "context": {"db_fixture": "standard", "notes": "Nothing to do."},
            "golden": golden,
            "negative": True,
            "skip": False,
            "skip_reason": None,
        }
        for number in range(CASES)
    ]
    (root / "cases").mkdir()
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (root / "cases" / "quiet.jsonl").write_text(text, encoding="utf-8")
    (root / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (root / "pyproject.toml").write_text(
        "[tool.pytest.ini_options]\n"
        '[tool.fc_eval]\nmodel = "thinker"\n'
        f'[tool.fc_eval.models.thinker]\nbase_url = "http://127.0.0.1:{port}/v1"\n',
        encoding="utf-8",
    )


def measure(root: Path, concurrency: int) -> float:
    """Seconds of one session."""
    command = [sys.executable, "-m", "pytest", "-q", "--fc-eval", "-p", "no:cacheprovider"]
    started = time.perf_counter()
    subprocess.run(
        [*command, "--fc-concurrency", str(concurrency)],
        cwd=root,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - started


def main() -> None:
    """Print a line for each concurrency."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Thinker)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        lay_out(root, server.server_address[1])
        alone = measure(root, CONCURRENCY[0])
        print(f"{CASES} cases, {THINKING_S * 1000:.0f} ms of thinking each")
        print(f"concurrency {CONCURRENCY[0]:>2}: {alone:6.2f} s   ratio 1.00")
        for concurrency in CONCURRENCY[1:]:
            seconds = measure(root, concurrency)
            print(f"concurrency {concurrency:>2}: {seconds:6.2f} s   ratio {alone / seconds:.2f}")
    server.shutdown()


if __name__ == "__main__":
    main()
