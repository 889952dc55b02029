"""A loopback server that plays odd answers, byte by byte where it must.

Each line under `odd/` is a script: the answers that one model gives, in order, and the guards that
a request has to keep. The model's name is the line's key, so all lines can play at once.
"""

from __future__ import annotations

import asyncio
import base64
import email.utils
import json
import re
import socket
import struct
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.client.odd_guards import broken_guard

ODD = Path(__file__).parent / "odd"
_HANG_S = 20.0

FINAL = {
    "body": {
        "id": "chatcmpl-final",
        "object": "chat.completion",
        "created": 1700000001,
        "model": "{{model}}",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Done."},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 80, "completion_tokens": 2, "total_tokens": 82},
    }
}


def load_lines(*names: str) -> dict[str, dict[str, Any]]:
    """The lines of the named files, of all where none is named, by their keys."""
    paths = [ODD / name for name in names] or sorted(ODD.glob("*.jsonl"))
    texts = (text for path in paths for text in path.read_text(encoding="utf-8").splitlines())
    lines = [json.loads(text) for text in texts]
    return {line["key"]: line for line in lines}


def load_tools() -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = json.loads((ODD / "tools.json").read_text(encoding="utf-8"))
    return tools


@dataclass
class Request:
    """One request as the server saw it."""

    path: str
    headers: Mapping[str, str]
    raw: bytes
    body: Any
    guard: str | None = None


@dataclass
class Script:
    """What one model answers, step by step, and then `FINAL` for ever."""

    steps: list[dict[str, Any]]
    guards: tuple[str, ...] = ()
    requests: list[Request] = field(default_factory=list)
    served: list[Any] = field(default_factory=list)
    _position: int = 0
    _times: int = 0

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> Script:
        steps = line["sequence"] if "sequence" in line else [line["http"]]
        return cls(
            steps=list(steps) * int(line.get("cycle", 1)), guards=tuple(line.get("guards", ()))
        )

    def next(self) -> dict[str, Any]:
        if self._position >= len(self.steps):
            return FINAL
        step = self.steps[self._position]
        self._times += 1
        repeat = step.get("repeat", 1)
        if repeat != "forever" and self._times >= int(repeat):
            self._position, self._times = self._position + 1, 0
        return step


class OddServer:
    """Serves scripts by the model's name, under any path that ends in `/chat/completions`."""

    def __init__(self, scripts: Mapping[str, Script]) -> None:
        self.scripts = dict(scripts)
        self.base_url = ""

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (request := await _read_request(reader)) is not None:
                if not await self._answer(request, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        model = str(request.body["model"])
        script = self.scripts[model]
        script.requests.append(request)
        for guard in script.guards:
            request.guard = broken_guard(guard, request.body, script.served)
            if request.guard:
                error = {"error": {"message": request.guard, "code": "odd_guard"}}
                return await _play({"status": 400, "body": error}, model, writer)
        step = _with_port(script.next(), writer)
        if isinstance(step.get("body"), dict) and step.get("status", 200) == 200:
            script.served.append(step["body"])
        return await _play(step, model, writer)


@asynccontextmanager
async def serving(scripts: Mapping[str, Script]) -> AsyncIterator[OddServer]:
    odd = OddServer(scripts)
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(odd.handle(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0, backlog=256)
    odd.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield odd
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _read_request(reader: asyncio.StreamReader) -> Request | None:
    head = await reader.readline()
    if not head:
        return None
    headers = {}
    while (line := (await reader.readline()).decode("latin-1").strip()) != "":
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    raw = await reader.readexactly(int(headers.get("content-length", 0)))
    path = head.split()[1].decode("ascii")
    return Request(path=path, headers=headers, raw=raw, body=json.loads(raw) if raw else None)


def _with_port(step: dict[str, Any], writer: asyncio.StreamWriter) -> dict[str, Any]:
    """The step with the server's port in a redirect's target."""
    target = step.get("headers", {}).get("Location")
    if target is None:
        return step
    port = str(writer.get_extra_info("sockname")[1])
    return {**step, "headers": {**step["headers"], "Location": target.replace("{{port}}", port)}}


async def _play(step: Mapping[str, Any], model: str, writer: asyncio.StreamWriter) -> bool:
    """Play one step; returns whether the connection goes on."""
    mode = step.get("mode", "normal")
    if mode == "reset":
        _reset(writer)
        return False
    if mode == "close":
        return False
    if mode == "hang":
        await asyncio.sleep(_HANG_S)
        return False
    if mode == "raw":
        writer.write(base64.b64decode(step["raw_b64"]))
        await writer.drain()
        return False
    data = _body(step, model)
    if mode == "chunked_cut":
        part = data[: step["cut_at"]]
        writer.write(_head(step, model, "Transfer-Encoding: chunked"))
        writer.write(b"%x\r\n%b\r\n" % (len(part), part))
        await writer.drain()
        return False
    writer.write(_head(step, model, f"Content-Length: {len(data)}"))
    if mode in ("cut", "reset_body"):
        writer.write(data[: step["cut_at"]])
        await writer.drain()
        if mode == "reset_body":
            await asyncio.sleep(0.05)
            _reset(writer)
        return False
    if mode == "drip":
        await _drip(step, data, writer)
        return False
    writer.write(data)
    await writer.drain()
    return True


async def _drip(step: Mapping[str, Any], data: bytes, writer: asyncio.StreamWriter) -> None:
    slow = min(step.get("drip_bytes", len(data)), len(data))
    for start in range(0, slow, step["chunk"]):
        writer.write(data[start : start + step["chunk"]])
        await writer.drain()
        await asyncio.sleep(step["delay_s"])
    writer.write(data[slow:])
    await writer.drain()


def _reset(writer: asyncio.StreamWriter) -> None:
    connection = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def _head(step: Mapping[str, Any], model: str, framing: str) -> bytes:
    lines = [f"HTTP/1.1 {step.get('status', 200)} Odd", framing]
    headers = step.get("headers", {"Content-Type": "application/json"})
    lines += [f"{name}: {_filled(value, model)}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _body(step: Mapping[str, Any], model: str) -> bytes:
    if "body_b64" in step:
        return base64.b64decode(step["body_b64"])
    if "blank_mib" in step:
        return b" " * (int(step["blank_mib"]) << 20)
    body = step.get("body", "")
    if isinstance(body, str):
        data = _filled(body, model).encode("utf-8")
    else:
        text = json.dumps(body, ensure_ascii=bool(step.get("ascii")))
        try:
            data = _filled(text, model).encode("utf-8")
        except UnicodeEncodeError:
            data = _filled(json.dumps(body), model).encode("ascii")
    prefix: str = step.get("prefix", "")
    return prefix.encode() + data


def _filled(text: str, model: str) -> str:
    def value(match: re.Match[str]) -> str:
        offset = int(match[2] or 0)
        if match[1] == "model":
            return model
        if match[1] == "http_date":
            return email.utils.formatdate(time.time() + offset, usegmt=True)
        return str(int(time.time() * 1000) + offset)

    return re.sub(r"\{\{(model|http_date|epoch_ms)(?:\+(\d+))?\}\}", value, text)
