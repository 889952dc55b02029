"""Whose fault is a FAIL or an AGENT_ERROR, and which values were nearly right?

Both are for the reader: a verdict stands whoever is at fault. A FAIL is the model's, except where
a limit of the settings cut its answer, or where nobody can tell the model from the server's parser.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Iterator

from fc_eval.judge.rules import Agreement, compare
from fc_eval.records.calls import Call
from fc_eval.records.case import Case, GoldenCall, ParamRule
from fc_eval.records.codec import JsonValue
from fc_eval.records.flags import Flag
from fc_eval.records.run import ErrorCode, Fault, Trace
from fc_eval.records.verdict import Judgement, Taxonomy, Verdict

_UNCLEAR_ON_CALLS = frozenset(
    {
        Flag.CONCATENATED_ARGS,
        Flag.DOUBLE_ENCODED,
        Flag.GLUED_NAME,
        Flag.LOOKS_TRUNCATED,
        Flag.NAME_MISSING,
        Flag.NESTED_ENVELOPE,
        Flag.REPLACEMENT_CHAR,
    }
)
_NO_CALL = frozenset({Taxonomy.CALL_MISSING, Taxonomy.CHAIN_INCOMPLETE})

_FAULT_OF_CODE: dict[str, Fault] = {
    ErrorCode.AUTH: Fault.CLIENT,
    ErrorCode.QUOTA: Fault.CLIENT,
    ErrorCode.NOT_FOUND: Fault.CLIENT,
    ErrorCode.TOOLS_UNSUPPORTED: Fault.CLIENT,
    ErrorCode.REQUEST_REJECTED: Fault.CLIENT,
    ErrorCode.SCHEMA_REJECTED: Fault.CLIENT,
    ErrorCode.REDIRECT: Fault.CLIENT,
    ErrorCode.EXCEPTION: Fault.CLIENT,
    ErrorCode.RATE_LIMITED: Fault.PROVIDER,
    ErrorCode.API_ERROR: Fault.PROVIDER,
    ErrorCode.BAD_RESPONSE: Fault.PROVIDER,
    ErrorCode.CONTENT_FILTER: Fault.PROVIDER,
    ErrorCode.CONNECTION: Fault.TRANSPORT,
    ErrorCode.TIMEOUT: Fault.TRANSPORT,
    ErrorCode.MAX_STEPS: Fault.MODEL,
}


def fault_of(case: Case, trace: Trace, judgement: Judgement) -> Fault | None:
    """Whose fault the verdict is; None for a PASS and a SKIP.

    A trace without a word on the fault of its error, such as one that another tool recorded, is
    read by the error's code.
    """
    fault = fault_in(trace, judgement, lacking=bool(_NO_CALL & set(judgement.taxonomies)))
    if fault is Fault.MODEL and judgement.verdict is Verdict.FAIL:
        nearly = Flag.NEAR_MISS_TYPE in golden_flags(case, trace)
        return Fault.UNCLEAR if nearly else fault
    return fault


def fault_in(trace: Trace, judgement: Judgement, *, lacking: bool) -> Fault | None:
    """Whose fault the verdict is, as far as that can be told without golden calls.

    Args:
        trace: The run.
        judgement: The verdict on it.
        lacking: Whether a call is missing that was due.
    """
    if judgement.verdict is Verdict.AGENT_ERROR:
        error = trace.error
        if error is None:
            return Fault.UNCLEAR
        return error.fault or _FAULT_OF_CODE.get(error.code, Fault.UNCLEAR)
    if judgement.verdict is not Verdict.FAIL:
        return None
    on_calls = {flag for call in trace.calls for flag in call.flags}
    if Flag.FINISH_LENGTH in on_calls or (lacking and Flag.FINISH_LENGTH in trace.flags):
        return Fault.CLIENT
    if lacking and Flag.TEXT_ENCODED_CALL in trace.flags:
        return Fault.UNCLEAR
    if lacking and not trace.calls and Flag.FINISH_MISMATCH in trace.flags:
        # The server announced a call and gave a text: its parser may have lost it.
        return Fault.UNCLEAR
    return Fault.UNCLEAR if on_calls & _UNCLEAR_ON_CALLS else Fault.MODEL


def golden_flags(case: Case, trace: Trace) -> tuple[str, ...]:
    """The notes on calls that take the golden calls to see, sorted: values that are nearly right.

    `near_miss_value` is a text that differs from golden in case, blanks, punctuation, width,
    entities, invisible characters or the form of a date; `near_miss_type` a value that golden has
    as another type.
    """
    found = {
        flag
        for call in trace.calls
        for golden in case.golden.calls
        if call.tool == golden.tool
        for flag in _near_misses(call, golden)
    }
    return tuple(sorted(found))


def _near_misses(call: Call, golden: GoldenCall) -> Iterator[str]:
    arguments = call.arguments or {}
    for name, expected in golden.params.items():
        rule = golden.rule(name)
        if name not in arguments or rule is ParamRule.ANY:
            continue
        actual = arguments[name]
        if compare(rule, actual, expected) is Agreement.EQUAL:
            continue
        if _is_other_type(actual, expected):
            yield Flag.NEAR_MISS_TYPE
        elif _is_near(actual, expected):
            yield Flag.NEAR_MISS_VALUE


def _is_other_type(actual: JsonValue, golden: JsonValue) -> bool:
    """Whether one is the other written as a text."""
    if isinstance(actual, str) == isinstance(golden, str):
        return False
    text, value = (actual, golden) if isinstance(actual, str) else (golden, actual)
    if isinstance(value, bool):
        return bool(text.strip().lower() == str(value).lower())
    try:
        return bool(json.loads(text) == value)
    except (ValueError, RecursionError):
        return False


def _is_near(actual: JsonValue, golden: JsonValue) -> bool:
    if not isinstance(actual, str) or not isinstance(golden, str):
        return False
    return _plain(actual) == _plain(golden) != "" or _same_date(actual, golden)


def _plain(text: str) -> str:
    """Letters and digits only, in one width and one case."""
    folded = unicodedata.normalize("NFKC", html.unescape(text)).casefold()
    return "".join(character for character in folded if character.isalnum())


_DATE = re.compile(r"\s*(\d{1,4})\D{1,3}(\d{1,2})\D{1,3}(\d{1,4})\D?\s*")


def _same_date(actual: str, golden: str) -> bool:
    one, other = _DATE.fullmatch(actual), _DATE.fullmatch(golden)
    if one is None or other is None:
        return False
    return sorted(map(int, one.groups())) == sorted(map(int, other.groups()))
