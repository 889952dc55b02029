"""One try of one request over HTTP: what came back, or why nothing whole did.

Bytes only. A try has one deadline from sending to the last byte; a body is read as it comes, up to
a cap, and decoded here, so that a body that is cut or wrongly labelled is known for what it is.
Redirects are followed by hand, on the same server only, so that a key never goes elsewhere.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urljoin, urlsplit

import httpx

from fc_eval.client.classify import Problem, Response
from fc_eval.client.redact import Redactor
from fc_eval.records.run import ErrorCode, Fault

BODY_CAP = 32 * 1024 * 1024
MOST_REDIRECTS = 3
ACCEPTED_ENCODINGS = "gzip, deflate"

_KEEPING_METHOD = frozenset({307, 308})
_GZIP = zlib.MAX_WBITS | 16
_GZIP_MAGIC = b"\x1f"

# A ValueError is a header that has characters which no header can carry.
_UNSENDABLE = (
    httpx.LocalProtocolError,
    httpx.UnsupportedProtocol,
    httpx.InvalidURL,
    ValueError,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one try came to: a whole answer, or the reason why there is none.

    `received` is what came in either case, for the records; None where not even a status did.
    `hops` are the paths that were redirected to.
    """

    result: Response | Problem
    received: Response | None = None
    hops: tuple[str, ...] = ()


class _TryError(Exception):
    """A try that brought no whole answer."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


@dataclass(slots=True)
class _Progress:
    """What has come so far, for the records of a try that fails."""

    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)
    hops: list[str] = field(default_factory=list)

    def reset(self, response: httpx.Response, headers: dict[str, str]) -> None:
        self.status, self.headers = response.status_code, headers
        self.body.clear()


async def send(
    client: httpx.AsyncClient,
    url: str,
    *,
    headers: Mapping[str, str],
    content: bytes,
    timeout_s: float,
    redactor: Redactor,
) -> Outcome:
    """Post *content* once, and read the whole answer.

    Args:
        timeout_s: From sending to the last byte, redirects included.
        redactor: Takes secrets out of whatever came, before anyone sees it.

    Raises:
        asyncio.CancelledError: The caller was cancelled. Nothing else is raised.
    """
    progress = _Progress()
    problem = None
    try:
        async with asyncio.timeout(timeout_s):
            await _follow(client, url, dict(headers), content, progress, redactor)
    except _TryError as error:
        problem = error.problem
    except TimeoutError:
        problem = _timeout(timeout_s, progress)
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, ValueError) as error:
        # An error whose text is cut off is still the error that its status says.
        if progress.status is None or progress.status < 400:
            problem = _of_exception(error, redactor)
    received = _received(progress, redactor)
    result = problem or received or _of_exception(OSError("nothing came"), redactor)
    return Outcome(result=result, received=received, hops=tuple(progress.hops))


async def _follow(
    client: httpx.AsyncClient,
    url: str,
    headers: dict[str, str],
    content: bytes,
    progress: _Progress,
    redactor: Redactor,
) -> None:
    for _ in range(1 + MOST_REDIRECTS):
        async with client.stream("POST", url, headers=headers, content=content) as response:
            progress.reset(response, redactor.headers(response.headers))
            await _read_body(response, progress)
        if not 300 <= response.status_code < 400:
            return
        url = _next_url(url, response, redactor)
        progress.hops.append(redactor.text(urlsplit(url).path))
    raise _TryError(_redirect(response, f"more than {MOST_REDIRECTS} redirects"))


def _next_url(url: str, response: httpx.Response, redactor: Redactor) -> str:
    location = response.headers.get("location", "")
    target = _joined(url, location)
    shown = redactor.text(location)[:200]
    if response.status_code not in _KEEPING_METHOD or target is None:
        raise _TryError(
            _redirect(response, f"redirected to {shown!r}; set base_url to where it answers")
        )
    if _origin(target) != _origin(url):
        raise _TryError(
            _redirect(response, f"redirected to another server, {shown!r}; not followed")
        )
    return target


def _joined(url: str, location: str) -> str | None:
    try:
        return str(urljoin(url, location)) if location else None
    except ValueError:
        return None


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    default = {"http": 80, "https": 443}.get(parts.scheme)
    try:
        return parts.scheme, parts.hostname, parts.port or default
    except ValueError:
        return parts.scheme, parts.hostname, -1


async def _read_body(response: httpx.Response, progress: _Progress) -> None:
    decoder = _Decoder(response.headers.get("content-encoding", ""))
    try:
        async for chunk in response.aiter_raw():
            try:
                progress.body += decoder.feed(chunk, room=BODY_CAP + 1 - len(progress.body))
            except zlib.error:
                progress.body += chunk
                raise
            if len(progress.body) > BODY_CAP:
                raise _TryError(
                    _bad_body(response, f"the body is larger than {BODY_CAP >> 20} MiB")
                )
        progress.body += decoder.finish()
    except zlib.error:
        if response.status_code >= 400:
            # The status says enough, and what can't be read is no answer of a model.
            return
        encoding = response.headers.get("content-encoding", "")
        raise _TryError(
            _bad_body(response, f"the body is not {encoding!r} as its header says")
        ) from None


class _Decoder:
    """Content codings that were asked for, undone piece by piece and within a bound.

    Raises:
        zlib.error: The bytes are not in the coding, or end too early.
    """

    def __init__(self, encoding: str) -> None:
        names = [name.strip().lower() for name in encoding.split(",")]
        self._names = [name for name in names if name not in ("", "identity")]
        self._inflate = None
        self._started = False
        if self._names in (["gzip"], ["x-gzip"]):
            self._inflate = zlib.decompressobj(_GZIP)
        elif self._names == ["deflate"]:
            self._inflate = zlib.decompressobj()

    def feed(self, chunk: bytes, *, room: int) -> bytes:
        if not self._names:
            return chunk
        if self._inflate is None:
            raise zlib.error("a coding that was not asked for")
        data = b""
        while chunk and len(data) < room:
            data += self._inflated(chunk, room - len(data))
            self._started = True
            chunk = self._inflate.unused_data
            if self._names == ["deflate"] or chunk[:1] != _GZIP_MAGIC:
                break
            # A gzip stream may have several members, one behind the other.
            self._inflate = zlib.decompressobj(_GZIP)
        return data

    def _inflated(self, chunk: bytes, room: int) -> bytes:
        assert self._inflate is not None
        try:
            return self._inflate.decompress(chunk, room)
        except zlib.error:
            if self._names != ["deflate"] or self._started:
                raise
            # Some servers send the bare stream under this name.
            self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)
            return self._inflate.decompress(chunk, room)

    def finish(self) -> bytes:
        if self._inflate is None:
            return b""
        data = self._inflate.flush()
        if self._started and not self._inflate.eof:
            raise zlib.error("the stream ends too early")
        return data


def _received(progress: _Progress, redactor: Redactor) -> Response | None:
    if progress.status is None:
        return None
    return Response(
        status=progress.status,
        headers=progress.headers,
        body=redactor.data(bytes(progress.body[:BODY_CAP])),
    )


def _timeout(timeout_s: float, progress: _Progress) -> Problem:
    came = "no answer" if progress.status is None else f"{len(progress.body)} bytes of an answer"
    return Problem(
        code=ErrorCode.TIMEOUT,
        message=f"{came} within {timeout_s:g} s",
        fault=Fault.TRANSPORT,
        exception="timeout",
        repeatable=True,
        timed_out=True,
    )


def _of_exception(error: Exception, redactor: Redactor) -> Problem:
    name = type(error).__name__
    text = redactor.text(f"{name}: {error}" if str(error) else name)
    if isinstance(error, _UNSENDABLE):
        return Problem(
            code=ErrorCode.REQUEST_REJECTED,
            message=f"the request can't be sent: {text}",
            fault=Fault.CLIENT,
            exception=name,
        )
    return Problem(
        code=ErrorCode.CONNECTION,
        message=f"the connection failed: {text}",
        fault=Fault.TRANSPORT,
        exception=name,
        repeatable=True,
    )


def _redirect(response: httpx.Response, message: str) -> Problem:
    return Problem(
        code=ErrorCode.REDIRECT,
        message=f"HTTP {response.status_code}: {message}",
        fault=Fault.CLIENT,
        status=response.status_code,
    )


def _bad_body(response: httpx.Response, message: str) -> Problem:
    return Problem(
        code=ErrorCode.BAD_RESPONSE,
        message=message,
        fault=Fault.TRANSPORT,
        status=response.status_code,
        repeatable=True,
    )
