"""Is an answer valid, as BFCL's official checker says it, and what exactly is wrong with it?

`valid` and `error_type` are the official ones: the first fault in the official order. The diff goes
further and lists every argument that is at fault, since a reader wants to mend all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from fc_eval.bfcl.decode import DecodedCall, DecodeError, decode_answer
from fc_eval.bfcl.entries import BfclEntry, Rule
from fc_eval.bfcl.error_types import ErrorType
from fc_eval.bfcl.match import CallLabel, Naming
from fc_eval.records.codec import JsonValue
from fc_eval.records.text import MAX_DEPTH
from fc_eval.records.verdict import Mismatch


@dataclass(frozen=True, kw_only=True)
class BfclScore:
    """The verdict on one answer.

    `error_type` is None where the answer is valid. `explain` makes the diff, which is worked out
    when it is first asked for: most scores are only counted. Not slotted, so that it can be kept.
    """

    valid: bool
    error_type: ErrorType | None = None
    explain: Callable[[], Iterable[Mismatch]] = field(default=tuple, repr=False, compare=False)

    @cached_property
    def diff(self) -> tuple[Mismatch, ...]:
        """Everything that is wrong; empty where the answer is valid.

        `calls[0].city` is a parameter of label 0, `calls[0]` the label itself, `actual[2]` the
        model's call 2 that no label has a place for, `answer` the answer as a whole.
        """
        return tuple(self.explain())


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A label and the call that stands against it, by their positions; `call` None where none does.

    `exact` is true where the call passes the label's check; `named` where at least its name does.
    """

    label: int
    call: int | None
    exact: bool = False
    named: bool = False


_MAX_BITS = 10_000
_VALID = BfclScore(valid=True)
_COUNT_ERRORS = {
    Rule.SIMPLE: ErrorType.SIMPLE_COUNT,
    Rule.MULTIPLE: ErrorType.MULTIPLE_COUNT,
    Rule.PARALLEL: ErrorType.PARALLEL_COUNT,
}
_MESSAGES: Mapping[ErrorType, str] = {
    ErrorType.SIMPLE_COUNT: "there is no call for this label",
    ErrorType.MULTIPLE_COUNT: "there is no call for this label",
    ErrorType.PARALLEL_COUNT: "there is no call for this label",
    ErrorType.WRONG_NAME: "another function is called",
    ErrorType.MISSING_REQUIRED: "required, and not given",
    ErrorType.MISSING_OPTIONAL: "expected, and not given",
    ErrorType.UNEXPECTED_PARAM: "not documented, or not expected in this call",
    ErrorType.TYPE: "of another type",
    ErrorType.ELEMENT_TYPE: "elements of another type",
    ErrorType.VALUE_TEXT: "none of the allowed texts",
    ErrorType.VALUE_LIST: "none of the allowed lists",
    ErrorType.VALUE: "none of the allowed values",
    ErrorType.OBJECT_KEY: "a key is missing or unexpected",
    ErrorType.OBJECT_VALUE: "the value of a key is not allowed",
    ErrorType.OBJECT_COUNT: "another number of objects",
    ErrorType.OBJECT_UNCLEAR: "no object is allowed",
    ErrorType.OBJECTS_UNCLEAR: "no list of objects is allowed",
}


def score(
    entry: BfclEntry, calls: Sequence[Mapping[str, Any]] | None, *, text: str | None = None
) -> BfclScore:
    """Score the answer to a single-turn entry.

    Args:
        entry: One of `load_entries`.
        calls: What came over a tools API, in order: `{"name", "arguments"}` each, the arguments an
            object or the text as it came. An empty list is an answer without calls.
        text: With *calls* None the answer in prompt mode, where functions are called by their
            documented, dotted names. With an empty list the message that came instead of calls.

    Raises:
        KeyError: A call has no `name` or no `arguments`.

    Source:
        `ast_checker` and `eval_runner` of the package bfcl_eval 2026.3.23.
    """
    rule = entry.rule
    try:
        decoded = decode_answer(calls, text)
    except DecodeError as error:
        return _undecoded(rule, error, calls, text)
    if rule is Rule.IRRELEVANCE or rule is Rule.RELEVANCE:
        return _score_calling(rule, decoded)
    labels = entry.labels
    naming = Naming.DOCUMENTED if calls is None else Naming.TOOL
    error_type = _first_error(rule, labels, decoded, naming)
    if error_type is None:
        return _VALID
    explain = partial(_diff, rule, labels, decoded, naming)
    return BfclScore(valid=False, error_type=error_type, explain=explain)


def pair_calls(
    labels: Sequence[CallLabel], decoded: Sequence[DecodedCall], naming: Naming
) -> list[Pair]:
    """Say which call stands against which label, in label order.

    First each label takes the first free call that passes, as the official matching does. Then the
    labels left over take, of the free calls of their name, the one with the fewest faults; then
    whatever is still free, in order.
    """
    free = list(range(len(decoded)))
    pairs = [Pair(label=position, call=None) for position in range(len(labels))]

    def take(pair: Pair, call: int, *, exact: bool = False, named: bool = False) -> None:
        free.remove(call)
        pairs[pair.label] = Pair(label=pair.label, call=call, exact=exact, named=named)

    def named(label: CallLabel) -> list[int]:
        return [call for call in free if decoded[call][0] == label.name_in(naming)]

    for pair, label in zip(tuple(pairs), labels, strict=True):
        passing = (call for call in named(label) if label.fault(decoded[call][1]) is None)
        if (call := next(passing, None)) is not None:
            take(pair, call, exact=True, named=True)
    for pair, label in zip(tuple(pairs), labels, strict=True):
        if pair.call is None and (candidates := named(label)):
            faults = [len(list(label.faults(decoded[call][1]))) for call in candidates]
            take(pair, candidates[faults.index(min(faults))], named=True)
    for pair in tuple(pairs):
        if pair.call is None and free:
            take(pair, free[0])
    return pairs


def _first_error(
    rule: Rule, labels: Sequence[CallLabel], decoded: Sequence[DecodedCall], naming: Naming
) -> ErrorType | None:
    if len(decoded) != len(labels):
        return _COUNT_ERRORS[rule]
    if rule is not Rule.PARALLEL:
        label, (name, arguments) = labels[0], decoded[0]
        return label.fault(arguments) if name == label.name_in(naming) else ErrorType.WRONG_NAME
    free = list(decoded)
    for label in labels:
        expected = label.name_in(naming)
        for position, (name, arguments) in enumerate(free):
            if name == expected and label.fault(arguments) is None:
                del free[position]
                break
        else:
            return ErrorType.NO_MATCH
    return None


def _score_calling(rule: Rule, decoded: Sequence[DecodedCall]) -> BfclScore:
    """Score whether a call was made at all; neither names nor arguments are looked at."""
    if bool(decoded) is (rule is Rule.RELEVANCE):
        return _VALID
    if rule is Rule.IRRELEVANCE:
        code, explain = ErrorType.CALLED_THOUGH_IRRELEVANT, partial(_undue, decoded)
        return BfclScore(valid=False, error_type=code, explain=explain)
    code = ErrorType.SILENT_THOUGH_RELEVANT
    return _spoiled(code, "a call is due, and none is made", actual=None)


def _undue(decoded: Sequence[DecodedCall]) -> Iterator[Mismatch]:
    for position, call in enumerate(decoded):
        yield _unplaced(position, call, ErrorType.CALLED_THOUGH_IRRELEVANT)


def _spoiled(code: ErrorType, message: str, *, actual: object) -> BfclScore:
    """The score of an answer that has no calls to look at."""

    def explain() -> Iterator[Mismatch]:
        yield Mismatch(path="answer", code=code, actual=plain_json(actual), message=message)

    return BfclScore(valid=False, error_type=code, explain=explain)


def _undecoded(
    rule: Rule,
    error: DecodeError,
    calls: Sequence[Mapping[str, Any]] | None,
    text: str | None,
) -> BfclScore:
    """What can't be read as calls is no call; where labels are due that is an error of its own."""
    if rule is Rule.IRRELEVANCE:
        return _VALID
    code = ErrorType.SILENT_THOUGH_RELEVANT if rule is Rule.RELEVANCE else error.error_type
    return _spoiled(code, str(error), actual=list(calls) if calls else text)


def _diff(
    rule: Rule, labels: Sequence[CallLabel], decoded: Sequence[DecodedCall], naming: Naming
) -> Iterator[Mismatch]:
    pairs = pair_calls(labels, decoded, naming)
    for pair in pairs:
        label = labels[pair.label]
        path = f"calls[{pair.label}]"
        name = label.name_in(naming)
        if pair.call is None:
            yield _mismatch(path, _COUNT_ERRORS[rule], golden={name: label.allowed})
        elif not pair.named:
            actual = decoded[pair.call][0]
            yield _mismatch(path, ErrorType.WRONG_NAME, golden=name, actual=actual)
        elif not pair.exact:
            yield from _argument_faults(path, label, decoded[pair.call][1])
    placed = {pair.call for pair in pairs}
    for position, call in enumerate(decoded):
        if position not in placed:
            yield _unplaced(position, call, _COUNT_ERRORS[rule])


def _argument_faults(
    path: str, label: CallLabel, arguments: Mapping[str, Any]
) -> Iterator[Mismatch]:
    for param, fault in label.faults(arguments):
        golden, actual = label.allowed.get(param), arguments.get(param)
        yield _mismatch(f"{path}.{param}", fault, golden=golden, actual=actual)


def _mismatch(path: str, code: ErrorType, *, golden: Any = None, actual: Any = None) -> Mismatch:
    return Mismatch(
        path=path,
        code=code,
        golden=plain_json(golden),
        actual=plain_json(actual),
        message=_MESSAGES[code],
    )


def _unplaced(position: int, call: DecodedCall, code: ErrorType) -> Mismatch:
    name, arguments = call
    return Mismatch(
        path=f"actual[{position}]",
        code=code,
        actual={str(name): plain_json(arguments)},
        message="no call is expected here",
    )


def plain_json(value: Any, *, depth: int = MAX_DEPTH) -> JsonValue:
    """A value as JSON can hold it: Python text has tuples, NaN and more.

    What lies deeper than *depth* levels is said to, not shown.
    """
    match value:
        case None | bool() | str():
            return value
        case int():
            # Python writes no longer ones in decimal, and a hexadecimal literal can be longer.
            return value if value.bit_length() <= _MAX_BITS else hex(value)
        case float():
            return value if math.isfinite(value) else repr(value)
        case Mapping() | list() | tuple() if depth <= 0:
            return f"(nested deeper than {MAX_DEPTH} levels)"
        case Mapping():
            return {str(key): plain_json(item, depth=depth - 1) for key, item in value.items()}
        case list() | tuple():
            return [plain_json(item, depth=depth - 1) for item in value]
    return repr(value)
