"""What an endpoint's refusal means: a code, whose fault it is, and whether it may pass.

Statuses and error bodies only. Completions are read in `client.wire`; when a fault is repeated is
decided in `client.retry`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fc_eval.agent.strict_json import JsonFault, parse_json
from fc_eval.records.codec import JsonValue
from fc_eval.records.run import ErrorCode, ErrorKind, Fault, RunError

_REPEATED_4XX = frozenset({408, 409, 425, 429})
_PROXY_TIMEOUTS = frozenset({504, 524})
_TEXT_CHARS = 1000
_WORDS_CHARS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """One HTTP answer: the body decoded and without secrets, header names in lower case."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why one try brought no answer of the model.

    `repeatable` is true where the same request may do better later. `timed_out` is true where the
    try may have cost a whole generation. `exception` names a transport's error. `names_day` is
    true where a limit of a day or a month is spoken of.
    """

    code: ErrorCode
    message: str
    fault: Fault
    status: int | None = None
    exception: str | None = None
    repeatable: bool = False
    timed_out: bool = False
    names_day: bool = False
    flags: tuple[str, ...] = ()

    def to_error(self, *, note: str = "", code: ErrorCode | None = None) -> RunError:
        """The trace's error, with *note* after the message."""
        final = self.code if code is None else code
        return RunError(
            kind=ErrorKind.TIMEOUT if final is ErrorCode.TIMEOUT else ErrorKind.API_ERROR,
            code=final,
            message=f"{self.message} ({note})" if note else self.message,
            http_status=self.status,
            fault=self.fault,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenGeneration:
    """The endpoint's own report that it could not read the model's call; `text` is that call."""

    message: str
    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorBody:
    """An error in whatever shape it came: as object, string, list, detail, without envelope.

    `words` is everything in it that names the trouble, in lower case, for looking into.
    """

    message: str
    words: str
    codes: frozenset[str] = frozenset()
    number: int | None = None
    param: str = ""
    failed_generation: str | None = None
    wrapped: bool = False


def read_json_body(body: bytes) -> JsonValue:
    """The JSON value of a body; byte order marks and blanks before it are let pass.

    Raises:
        JsonFault: It is no JSON in UTF-8.
    """
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise JsonFault(f"not UTF-8 at byte {error.start}") from None
    return parse_json(text.lstrip("\ufeff \t\r\n").rstrip()).value


def read_error(response: Response) -> ErrorBody:
    """What an answer says of its error, whatever the shape. Never raises."""
    try:
        value = read_json_body(response.body)
    except JsonFault:
        return _from_text(response)
    return error_of_value(value)


def error_of_value(value: JsonValue) -> ErrorBody:
    """The error in a decoded body, whatever its shape."""
    if isinstance(value, list) and value:
        value = value[0]
    if not isinstance(value, dict):
        text = value if isinstance(value, str) else json.dumps(value)
        return ErrorBody(message=_short(text), words=text[:_WORDS_CHARS].lower())
    inner = value.get("error") or value.get("errors") or value.get("detail") or value
    if isinstance(inner, list) and inner and isinstance(inner[0], dict):
        inner = inner[0]
    if not isinstance(inner, dict):
        text = inner if isinstance(inner, str) else json.dumps(inner)
        return ErrorBody(message=_short(text), words=text[:_WORDS_CHARS].lower())
    return _from_object(inner)


def _from_object(error: Mapping[str, Any]) -> ErrorBody:
    inner = error.get("metadata")
    metadata: Mapping[str, Any] = inner if isinstance(inner, dict) else {}
    named = [error.get("code"), error.get("type"), error.get("status"), metadata.get("error_type")]
    message = _first_text(error, "message", "msg", "detail", "error", "title", "code")
    failed = error.get("failed_generation")
    if not isinstance(failed, str):
        failed = _unreadable_call(message)
    return ErrorBody(
        message=_short(message or json.dumps(dict(error))),
        words=json.dumps(dict(error), ensure_ascii=False)[:_WORDS_CHARS].lower(),
        codes=frozenset(str(name).lower() for name in named if isinstance(name, str) and name),
        number=_http_number(error.get("code"), error.get("status"), error.get("status_code")),
        param=_param(error),
        failed_generation=failed,
        wrapped=bool(metadata.get("provider_name") or metadata.get("raw")),
    )


# Local servers answer 500 where they can't read what the model wrote: Ollama, then llama.cpp.
_UNREADABLE_CALL = re.compile(
    r"error parsing tool call: raw='(.*)', err=|failed to parse input at pos \d+: ?(.*)",
    re.IGNORECASE | re.DOTALL,
)


def _unreadable_call(message: str) -> str | None:
    """What the model wrote, where *message* says that the server could not read it."""
    found = _UNREADABLE_CALL.search(message)
    return None if found is None else found[1] or found[2] or ""


def _first_text(error: Mapping[str, Any], *names: str) -> str:
    for name in names:
        if isinstance(error.get(name), str) and error[name].strip():
            return str(error[name])
    return ""


def _param(error: Mapping[str, Any]) -> str:
    if isinstance(error.get("loc"), list):
        return ".".join(str(part) for part in error["loc"]).removeprefix("body.")
    return str(error.get("param") or "")


def _http_number(*values: JsonValue) -> int | None:
    for value in values:
        if isinstance(value, str) and value.isascii() and value.isdigit():
            value = int(value[:6])
        if isinstance(value, int) and not isinstance(value, bool) and 400 <= value < 600:
            return value
    return None


_TITLE = re.compile(r"<(title|h1)[^>]*>(.*?)</\1>", re.IGNORECASE | re.DOTALL)


def _from_text(response: Response) -> ErrorBody:
    text = response.body[:_WORDS_CHARS].decode("utf-8", "replace").strip()
    title = _TITLE.search(text)
    shown = title[2] if title else text
    return ErrorBody(message=_short(shown) or "no text", words=text[:_WORDS_CHARS].lower())


def _short(text: str) -> str:
    return " ".join(text.split())[:_TEXT_CHARS]


_TOOLS_UNSUPPORTED = re.compile(
    r"(?:not|n't) support(?:ed|s)?[^.]{0,40}\b(?:tools?|function[ _-]?call\w*)\b"
    r"|\b(?:tools?|function[ _-]?call\w*)(?: use| calls?| calling| choice)?\b[^.:\[]{0,20}"
    r" (?:is|are) (?:not|un)[ -]?(?:supported|available|enabled)"
    r"|support tool use|enable-auto-tool-choice|tool-call-parser"
    r"|tools? (?:param|calling|use)[^.]{0,20} requires?\b"
)
_CONTENT_FILTER = re.compile(
    r"content[ _-]?(?:filter|policy|management)|moderation|\bflagged\b|safety (?:system|policy)"
    r"|blocked by polic|responsible ?ai|data_?inspection|inappropriate|usage polic|prohibited"
)
_CONTEXT_LENGTH = re.compile(
    r"context[ _-]?(?:length|window|size|limit)|maximum (?:context|model length)"
    r"|too many (?:input |prompt )?tokens|tokens`? \+ `?max_new_tokens|range of input length"
    r"|(?:prompt|input|request|messages?) (?:is|are) too long|exceed_context|max(?:imum)?[ _]input"
    r"|reduce the length of the messages|input length[^.]{0,30}exceed|token count[^.]{0,40}exceed"
)
_SCHEMA = re.compile(
    r"function[_ ]declarations?|input_schema|invalid_function_parameters|\btools?\s*[\[.]\s*\d"
    r"|(?:invalid|json) schema|\bschemas?\b|additional_?properties|\$ref|function\.(?:name|param)"
    r"|parameters\.\w|\btool names?\b|function names?\b"
    r"|property_?names|unique_?items|\b(?:any|one|all)_?of\b|exclusive_?m(?:in|ax)imum"
)
_HISTORY = re.compile(r"\bmessages?\s*[\[.]\s*\d|response_format")
_QUOTA = re.compile(
    r"insufficient[ _](?:quota|balance|credits?|funds)|billing_(?:hard_limit|not_active)"
    r"|(?:no|out of) credits|key limit exceeded|payment required"
)
_DAY = re.compile(
    r"per[ _-]?(?:day|month)|\bdaily\b|\bmonthly\b|\brpd\b|\btpd\b|(?:a|each|this|24) ?-?"
    r"(?:day|month|h\b|hours?)\b"
)

_STATUS_OF_CODE = {
    "authentication_error": 401,
    "invalid_api_key": 401,
    "unauthenticated": 401,
    "permission_denied": 403,
    "permission_error": 403,
    "insufficient_quota": 402,
    "billing_error": 402,
    "model_not_found": 404,
    "not_found": 404,
    "not_found_error": 404,
    "context_length_exceeded": 400,
    "content_filter": 400,
    "invalid_argument": 400,
    "invalid_request_error": 400,
    "failed_precondition": 400,
    "tool_use_failed": 400,
    "invalid_function_parameters": 400,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "resource_exhausted": 429,
    "deadline_exceeded": 504,
    "internal": 500,
    "internal_error": 500,
    "server_error": 500,
    "overloaded_error": 529,
    "unavailable": 503,
}


def status_in_body(error: ErrorBody) -> int:
    """The HTTP status that an error in a 200 stands for; 502 where it names none."""
    if error.number is not None:
        return error.number
    known = [_STATUS_OF_CODE[code] for code in error.codes if code in _STATUS_OF_CODE]
    # `type` is often the vague `invalid_request_error` beside a telling code.
    return max(known, key=lambda status: (status != 400, status), default=502)


def broken_generation(error: ErrorBody) -> BrokenGeneration | None:
    """The model's own malformed call, where this is what the endpoint reports."""
    if "tool_use_failed" in error.codes or error.failed_generation is not None:
        return BrokenGeneration(message=error.message, text=error.failed_generation)
    return None


def classify(error: ErrorBody, *, status: int, http_status: int) -> Problem:
    """What an error means that came under *status*, by the table of statuses.

    Args:
        error: What the body says.
        status: The status that counts: the answer's own, or the body's code inside a 200.
        http_status: The answer's own.
    """
    code, fault = _code(error, status)
    if code is ErrorCode.REQUEST_REJECTED and (error.wrapped or http_status < 400):
        # A gateway passes on what the provider behind it did not take.
        fault = Fault.PROVIDER
    return Problem(
        code=code,
        message=f"HTTP {http_status}: {error.message}{_advice(code, status)}",
        fault=fault,
        status=http_status,
        repeatable=code in (ErrorCode.API_ERROR, ErrorCode.RATE_LIMITED)
        and (status in _REPEATED_4XX or 500 <= status <= 599),
        timed_out=status in _PROXY_TIMEOUTS,
        names_day=_DAY.search(error.words) is not None,
    )


def _code(error: ErrorBody, status: int) -> tuple[ErrorCode, Fault]:
    if _is_quota(error, status):
        return ErrorCode.QUOTA, Fault.CLIENT
    if status == 429:
        return ErrorCode.RATE_LIMITED, Fault.PROVIDER
    if status in _REPEATED_4XX or not 400 <= status < 500:
        return ErrorCode.API_ERROR, Fault.PROVIDER
    if status == 401:
        return ErrorCode.AUTH, Fault.CLIENT
    if status == 403:
        if _CONTENT_FILTER.search(error.words):
            return ErrorCode.CONTENT_FILTER, Fault.PROVIDER
        return ErrorCode.AUTH, Fault.CLIENT
    if _TOOLS_UNSUPPORTED.search(error.words):
        return ErrorCode.TOOLS_UNSUPPORTED, Fault.CLIENT
    if status == 404:
        return ErrorCode.NOT_FOUND, Fault.CLIENT
    return _rejected(error)


def _is_quota(error: ErrorBody, status: int) -> bool:
    if status == 402 or "insufficient_quota" in error.codes:
        return True
    if status == 429:
        return bool(_DAY.search(error.words) or _QUOTA.search(error.words))
    return status == 403 and bool(_QUOTA.search(error.words))


def _rejected(error: ErrorBody) -> tuple[ErrorCode, Fault]:
    words = error.words
    if _CONTEXT_LENGTH.search(words):
        return ErrorCode.CONTEXT_LENGTH, Fault.UNCLEAR
    if error.param.startswith("tools") or "invalid_function_parameters" in error.codes:
        return ErrorCode.SCHEMA_REJECTED, Fault.CLIENT
    if _CONTENT_FILTER.search(words):
        return ErrorCode.CONTENT_FILTER, Fault.PROVIDER
    if _SCHEMA.search(words) and not _HISTORY.search(words):
        return ErrorCode.SCHEMA_REJECTED, Fault.CLIENT
    return ErrorCode.REQUEST_REJECTED, Fault.CLIENT


def _advice(code: ErrorCode, status: int) -> str:
    if code is ErrorCode.TOOLS_UNSUPPORTED:
        return (
            ". Start the server with tool calling (vLLM: --enable-auto-tool-choice and"
            " --tool-call-parser; llama.cpp: --jinja), or set tool_mode = 'prompt'"
        )
    if code is ErrorCode.SCHEMA_REJECTED:
        return ". Mend the tool's schema, or set schema_profile = 'plain'"
    if status in _PROXY_TIMEOUTS:
        return ". A proxy's own time limit is the likely cause"
    return ""
