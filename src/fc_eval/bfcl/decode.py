"""What did the model call? From what it sent to names and arguments, as the leaderboard reads it.

Two ways lead here. Over a tools API every call has its arguments as one JSON text. In prompt mode
the whole answer is a Python expression, a list of calls, which is parsed and never evaluated.
Either way one broken call spoils the answer. Whether the calls are right is asked in `score`.
"""

from __future__ import annotations

import ast
import json
import operator
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from fc_eval.bfcl.error_types import ErrorType

DecodedCall: TypeAlias = tuple[str | None, Mapping[str, Any]]
"""The name as the model wrote it, and the arguments."""


class DecodeError(ValueError):
    """An answer that can't be read as calls; `error_type` says in which of two ways."""

    def __init__(self, error_type: ErrorType, why: str) -> None:
        super().__init__(why)
        self.error_type = error_type


def decode_answer(
    calls: Sequence[Mapping[str, Any]] | None, text: str | None = None
) -> list[DecodedCall]:
    """Read an answer: *calls* of a tools API, or without them *text* in prompt mode.

    Args:
        calls: `{"name", "arguments"}` each; arguments an object, or the text as it came. An empty
            list is an answer over a tools API that has no calls, *text* its message.
        text: The answer in prompt mode where *calls* is None.

    Raises:
        DecodeError: The answer, or any call in it, can't be read.
        KeyError: A call has no `name` or no `arguments`.
    """
    if calls is None:
        if text is None:
            raise DecodeError(ErrorType.DECODER_FAILED, "there is no answer")
        return decode_python(text)
    if not calls and text:
        # A message is no list of calls. An empty one is, of none.
        raise DecodeError(ErrorType.DECODER_FAILED, "the answer is a message without calls")
    return decode_calls(calls)


def decode_calls(calls: Sequence[Mapping[str, Any]]) -> list[DecodedCall]:
    """Read the calls of an answer over a tools API; see `decode_answer`.

    Source:
        The OpenAI handler of the leaderboard: `json.loads` on each text, with Python's leniency
        (NaN, the last of two equal keys), and then every value must be an object.
    """
    decoded: list[DecodedCall] = []
    wrong_format: str | None = None
    for position, call in enumerate(calls):
        arguments = call["arguments"]
        if type(arguments) is str:
            try:
                arguments = json.loads(arguments)
            except (ValueError, RecursionError) as error:
                why = f"the arguments of call {position} are no JSON: {error}"
                raise DecodeError(ErrorType.DECODER_FAILED, why) from None
        if type(arguments) is not dict and not isinstance(arguments, Mapping):
            wrong_format = f"the arguments of call {position} are no object"
        decoded.append((call["name"], arguments))
    # Only now: text that can't be read at all, in a later call, weighs more.
    if wrong_format is not None:
        raise DecodeError(ErrorType.WRONG_OUTPUT_FORMAT, wrong_format)
    return decoded


def decode_python(text: str) -> list[DecodedCall]:
    """Read an answer of prompt mode, such as `[area(base=10, height=5), area(base=2, height=3)]`.

    Backticks, blanks and newlines around it are dropped and missing brackets are added. Positional
    arguments are dropped. Names, calls without keywords and subscripts become text, as in
    `unit=metric`; a call with keywords becomes the object `{name: arguments}`; arithmetic
    on constants is worked out.

    Raises:
        DecodeError: The text is no list of calls, or an argument is of another kind.

    Source:
        The default prompt handler of the leaderboard. That one evaluates arithmetic with `eval`;
        here only constants are combined, so that an answer can't run anything.
    """
    stripped = text.strip("`\n ")
    opening = "" if stripped.startswith("[") else "["
    closing = "" if stripped.endswith("]") else "]"
    try:
        return [_read_call(node) for node in _parse_elements(f"{opening}{stripped}{closing}")]
    except (ValueError, TypeError, SyntaxError, ArithmeticError) as error:
        raise DecodeError(ErrorType.DECODER_FAILED, f"no list of calls: {error}") from None
    except (RecursionError, MemoryError):
        raise DecodeError(ErrorType.DECODER_FAILED, "the text is nested too deeply") from None


def _parse_elements(source: str) -> Sequence[ast.expr]:
    with warnings.catch_warnings():
        # A stray backslash in a model's text is no concern of whoever runs the session.
        warnings.simplefilter("ignore")
        body = ast.parse(source.strip().strip("'"), mode="eval").body
    # A comment can stand before the last bracket, so that this may be more than a list.
    if isinstance(body, ast.Call):
        return [body]
    if isinstance(body, ast.List | ast.Tuple):
        return body.elts
    raise ValueError(f"the text is a {type(body).__name__}")


def _read_call(node: ast.expr) -> DecodedCall:
    if not isinstance(node, ast.Call):
        raise ValueError(f"an element is a {type(node).__name__}")
    parts: list[str] = []
    function = node.func
    while isinstance(function, ast.Attribute):
        parts.append(function.attr)
        function = function.value
    if isinstance(function, ast.Name):
        parts.append(function.id)
    # `**rest` has no name and stays one unexpected argument without a name, as officially.
    arguments: dict[Any, Any] = {item.arg: _read_value(item.value) for item in node.keywords}
    return ".".join(reversed(parts)), arguments


def _read_value(node: ast.expr | None) -> Any:
    match node:
        case ast.Constant(value=value):
            return "..." if value is Ellipsis else value
        case ast.UnaryOp(operand=ast.Constant(value=value)):
            # Whatever the operator is, officially it negates.
            return operator.neg(value)  # type: ignore[arg-type]  # a TypeError is a decode error
        case ast.List(elts=elements):
            return [_read_value(element) for element in elements]
        case ast.Tuple(elts=elements):
            return tuple(_read_value(element) for element in elements)
        case ast.Dict(keys=keys, values=values):
            return {
                _read_value(key): _read_value(value)
                for key, value in zip(keys, values, strict=True)
            }
        case ast.Name(id=name):
            return name
        case ast.Call(keywords=[]):
            return ast.unparse(node)
        case ast.Call():
            return dict([_read_call(node)])
        case ast.Subscript(value=value, slice=index):
            return f"{ast.unparse(value)}[{ast.unparse(index)}]"
        case ast.BinOp():
            return _fold(node)
    raise ValueError(f"an argument is a {type(node).__name__}")


_OPERATORS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.BitXor: operator.xor,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}
_MAX_BITS = 10_000
_MAX_LENGTH = 100_000


def _fold(node: ast.expr) -> Any:
    """Work out an expression of constants.

    Raises:
        ValueError: It has other parts, or its result would be larger than any argument is.
    """
    match node:
        case ast.Constant(value=value):
            return value
        case ast.List(elts=elements):
            return [_fold(element) for element in elements]
        case ast.Tuple(elts=elements):
            return tuple(_fold(element) for element in elements)
        case ast.UnaryOp(op=sign, operand=operand):
            return _OPERATORS[type(sign)](_fold(operand))
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
            first, second = _fold(left), _fold(right)
            _refuse_large(sign, first, second)
            return _OPERATORS[type(sign)](first, second)
    raise ValueError(f"arithmetic with a {type(node).__name__}")


def _refuse_large(sign: ast.operator, first: Any, second: Any) -> None:
    if isinstance(sign, ast.Mod) and isinstance(first, str | bytes):
        raise ValueError("arithmetic with a text as a format")
    bits = length = 0
    if isinstance(second, int) and isinstance(sign, ast.Pow | ast.LShift):
        bits = _bits(first) * abs(second) if isinstance(sign, ast.Pow) else _bits(first) + second
    elif isinstance(sign, ast.Mult):
        bits = _bits(first) + _bits(second)
        for value, times in ((first, second), (second, first)):
            if isinstance(value, str | bytes | list | tuple) and isinstance(times, int):
                length = _length(value) * times
    if bits > _MAX_BITS or length > _MAX_LENGTH:
        raise ValueError("arithmetic with a result that is too large")


def _bits(value: Any) -> int:
    return value.bit_length() if isinstance(value, int) else 0


def _length(value: Any) -> int:
    """Characters and elements, at any depth: repeated lists share what they hold."""
    if isinstance(value, list | tuple):
        return len(value) + sum(map(_length, value))
    return len(value) if isinstance(value, str | bytes) else 0
