"""Failed cases → the few lines that a person acts on."""

from __future__ import annotations

from collections.abc import Iterator

from fc_eval.records.report import CaseResult
from fc_eval.records.run import Attempt, Trace
from fc_eval.records.text import printable

FEW_REASONS = 3
LINE = 160

HINTS = {
    "auth": "check the key in the variable that api_key_env names",
    "quota": "the account is used up; nothing more is sent to it in this session",
    "rate_limited": "lower --fc-concurrency, or run again later",
    "not_found": "check slug and base_url of the model profile",
    "tools_unsupported": 'the endpoint takes no tools: see tool_mode = "prompt"',
    "schema_rejected": 'the endpoint refuses the tool schemas: see schema_profile = "plain"',
    "context_length": "the conversation is longer than the model reads",
    "max_steps": "the model went on calling; max_steps of the model profile is the limit",
    "redirect": "write the address that the endpoint points to as base_url",
}


def short_failure(result: CaseResult, *, where: str) -> Iterator[str]:
    """A FAIL in a few lines: place, codes, and the first reasons.

    Args:
        result: A result whose verdict is FAIL.
        where: The case's line, as `file:line`.
    """
    repeat = f" (run {result.repeat})" if result.repeat > 1 else ""
    yield f"FAIL {where} {result.case_id}{repeat}: {', '.join(result.taxonomies)}"
    for mismatch in result.diff[:FEW_REASONS]:
        path, message = printable(mismatch.path, LINE), printable(mismatch.message, LINE)
        yield f"  {mismatch.code} {path}: {message}"
    if len(result.diff) > FEW_REASONS:
        yield f"  and {len(result.diff) - FEW_REASONS} more"


def agent_error_lines(instruction: str, trace: Trace) -> list[str]:
    """Why a case was not measured: the error, every failed try, and what there was before it."""
    error = trace.error
    lines = [f"instruction: {printable(instruction, LINE)}"]
    if error is not None:
        status = f" (HTTP {error.http_status})" if error.http_status else ""
        lines.append(f"AGENT_ERROR {error.kind} {error.code}{status}: ")
        lines[-1] += printable(error.message, 4 * LINE)
        if error.code in HINTS:
            lines.append(f"hint: {HINTS[error.code]}")
    lines.extend(_attempt(attempt) for attempt in trace.attempts)
    if trace.calls:
        calls = "1 call" if len(trace.calls) == 1 else f"{len(trace.calls)} calls"
        lines.append(f"before it the agent made {calls}:")
        lines.extend(f"  {call.index}: {printable(str(call.tool), LINE)}" for call in trace.calls)
    lines.append("the model was not measured: this is no FAIL, and no accuracy counts it")
    return lines


def _attempt(attempt: Attempt) -> str:
    came = f"HTTP {attempt.status}" if attempt.status is not None else attempt.exception
    wait = "" if attempt.wait_s is None else f", waited {attempt.wait_s:.1f} s"
    hint = f" as {attempt.hint} asked" if attempt.hint and attempt.wait_s is not None else ""
    text = f"request {attempt.step}, try {attempt.number}: {came}{wait}{hint}"
    return printable(text, LINE)
