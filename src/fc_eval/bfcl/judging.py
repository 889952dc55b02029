"""A trace of an entry → its answer, and the verdict on it.

The trace is the one record of a run; an answer is what `score` takes. Answers that were made
elsewhere go the other way, so that both are kept, replayed and judged alike. How an answer is
scored is asked in `score`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from fc_eval.agent.arguments import read_arguments
from fc_eval.bfcl.decode import DecodeError, decode_python
from fc_eval.bfcl.entries import BfclEntry
from fc_eval.bfcl.predictions import Answer
from fc_eval.bfcl.score import plain_json, score
from fc_eval.bfcl.tools import tool_name
from fc_eval.records.calls import Call
from fc_eval.records.codec import JsonValue, text_digest
from fc_eval.records.flags import Flag
from fc_eval.records.run import ErrorCode, ErrorKind, RunError, Status, Trace
from fc_eval.records.verdict import Judgement, Verdict

SCORING_REVISION = 1
"""Goes up with every change that can change a verdict, an error type or a mismatch."""

PYTHON_TEXT = "python_text"
"""The mark on a trace whose answer is its text, read as Python calls: BFCL's prompt mode.

The one mark that a verdict rests on: the same text over a tools API is no call.
"""


def scoring_digest() -> str:
    """SHA-256 that stands for the behaviour of the scoring, not for its source."""
    return text_digest(f"fc_eval bfcl scoring, revision {SCORING_REVISION}")


def judge_entry(entry: BfclEntry, trace: Trace) -> Judgement:
    """The verdict on one run of an entry; its only code is the official error type.

    Raises:
        ValueError: *trace* is of another entry.
    """
    if trace.case_id != entry.id:
        raise ValueError(f"the trace is of {trace.case_id!r}, not of {entry.id!r}")
    if trace.status is Status.SKIPPED:
        return Judgement(verdict=Verdict.SKIP)
    if trace.status is Status.AGENT_ERROR:
        return Judgement(verdict=Verdict.AGENT_ERROR)
    answer = answer_of(trace)
    scored = score(entry, answer.calls, text=answer.text)
    if scored.error_type is None:
        return Judgement(verdict=Verdict.PASS)
    return Judgement(verdict=Verdict.FAIL, taxonomies=(scored.error_type.value,), diff=scored.diff)


def answer_of(trace: Trace) -> Answer:
    """The answer that a trace holds, its arguments as they came."""
    if PYTHON_TEXT in trace.flags:
        return Answer(calls=None, text=trace.final_text)
    calls = tuple({"name": call.tool, "arguments": _sent(call)} for call in trace.calls)
    return Answer(calls=calls, text=trace.final_text)


def _sent(call: Call) -> Any:
    if call.arguments_raw is not None:
        return call.arguments_raw
    if call.arguments is None or Flag.ARGS_EMPTY in call.flags:
        # Absent arguments are no JSON text, which officially spoils the answer.
        return ""
    return call.arguments


def trace_of(entry_id: str, answer: Answer | None) -> Trace:
    """An answer that was made elsewhere as a trace; AGENT_ERROR `not_run` where there is none."""
    if answer is None:
        error = RunError(
            kind=ErrorKind.AGENT_EXCEPTION,
            code=ErrorCode.NOT_RUN,
            message="the predictions have no answer to this entry",
        )
        return Trace(case_id=entry_id, status=Status.AGENT_ERROR, error=error)
    in_text = answer.calls is None
    calls = python_calls(answer.text or "") if in_text else tuple(_calls(answer.calls or ()))
    return Trace(
        case_id=entry_id,
        status=Status.COMPLETED,
        calls=calls,
        final_text=answer.text,
        flags=(PYTHON_TEXT,) if in_text else (),
    )


def _calls(calls: tuple[Mapping[str, Any], ...]) -> Iterator[Call]:
    for index, call in enumerate(calls):
        name, sent = call["name"], call["arguments"]
        read = read_arguments(sent)
        raw = read.arguments_raw
        if not isinstance(sent, str) and (sent is None or read.arguments is None):
            # What is no object, or no strict JSON, is kept as the text that says the same.
            raw = json.dumps(sent)
        yield Call(
            index=index,
            step=1,
            call_id=None,
            tool=name if isinstance(name, str) else None,
            arguments=read.arguments,
            arguments_raw=raw,
            parse_error=read.parse_error,
            flags=tuple(str(flag) for flag in read.flags if flag != Flag.ARGS_NOT_STRING),
        )


def python_calls(text: str) -> tuple[Call, ...]:
    """The calls of an answer in prompt mode, as JSON can hold them; none where it has none."""
    try:
        decoded = decode_python(text)
    except DecodeError:
        return ()
    return tuple(
        Call(index=index, step=1, call_id=None, tool=name, arguments=plain_json(arguments))
        for index, (name, arguments) in enumerate(decoded)
    )


def golden_of(entry: BfclEntry) -> dict[str, JsonValue]:
    """What an entry allows: its rule, and for each label the tool and the values by parameter."""
    calls = [
        {"tool": tool_name(name), "allowed": allowed}
        for label in entry.ground_truth or ()
        for name, allowed in label.items()
    ]
    return {"rule": entry.rule.name.lower(), "calls": calls}
