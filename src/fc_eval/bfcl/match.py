"""Does one call satisfy one label? The official call check, compiled once per label.

A label of BFCL lists, for each parameter, the values that are allowed; "" among them says that
the parameter may be left out. The check is stricter than JSON in types (5.0 is no integer) and
laxer in texts (case, blanks and some punctuation do not count), and it has oddities that decide
real entries. All of them are kept, since a score is worth something only beside the others'.

Which call is held against which label, and how many there have to be, is asked in `score`.

Labels are compiled to closures: whatever depends on the label alone, such as the standard form of
its texts, is worked out once, while an answer costs little more than the comparisons.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

from fc_eval.bfcl.error_types import ErrorType
from fc_eval.bfcl.tools import tool_name
from fc_eval.records.codec import JsonValue

ValueCheck: TypeAlias = Callable[[Any], ErrorType | None]
"""What is wrong with a value, None where nothing is."""

OMITTABLE = ""
"""The entry of an allowed list that says: this parameter may be left out."""

_PYTHON_TYPES: Mapping[str, type] = {
    "string": str,
    "integer": int,
    "float": float,
    "boolean": bool,
    "array": list,
    "tuple": list,
    "dict": dict,
    "any": str,
}
_LISTS = ("array", "tuple")
_REMOVED = str.maketrans("", "", " ,./-_*^")


class Naming(Enum):
    """Which of a function's two names a model has to use."""

    TOOL = "over a tools API, with underscores for dots"
    DOCUMENTED = "in prompt mode, as documented"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLabel:
    """One expected call, ready to be compared.

    `name` is the documented name, which a model in prompt mode writes; `tool_name` has underscores
    for its dots, as a tools API demands. `allowed` is the label as shipped. `checks` has the
    parameters that are both documented and in the label; `required` is the tool's list,
    `expected` the label's parameters that are not marked omittable.
    """

    name: str
    tool_name: str
    allowed: Mapping[str, Sequence[JsonValue]]
    checks: Mapping[str, ValueCheck]
    required: tuple[str, ...]
    expected: tuple[str, ...]

    def name_in(self, naming: Naming) -> str:
        """The name by which the model has to call."""
        return self.tool_name if naming is Naming.TOOL else self.name

    def fault(self, arguments: Mapping[str, Any]) -> ErrorType | None:
        """The first fault of the arguments in the official order, None where they pass."""
        for name in self.required:
            if name not in arguments:
                return ErrorType.MISSING_REQUIRED
        checks = self.checks
        for name, value in arguments.items():
            check = checks.get(name)
            if check is None:
                return ErrorType.UNEXPECTED_PARAM
            fault = check(value)
            if fault is not None:
                return fault
        for name in self.expected:
            if name not in arguments:
                return ErrorType.MISSING_OPTIONAL
        return None

    def faults(self, arguments: Mapping[str, Any]) -> Iterator[tuple[str, ErrorType]]:
        """Every parameter that is at fault and why, in the official order of checks."""
        missing = [name for name in self.required if name not in arguments]
        yield from ((name, ErrorType.MISSING_REQUIRED) for name in missing)
        for name, value in arguments.items():
            check = self.checks.get(name)
            fault = ErrorType.UNEXPECTED_PARAM if check is None else check(value)
            if fault is not None:
                yield name, fault
        for name in self.expected:
            if name not in arguments and name not in missing:
                yield name, ErrorType.MISSING_OPTIONAL


def compile_label(
    function: Mapping[str, Any], allowed: Mapping[str, Sequence[JsonValue]]
) -> CallLabel:
    """Prepare a label for comparison.

    Args:
        function: The documented function: `name`, and `parameters` with `properties`, `required`.
        allowed: For each parameter the list of its allowed values.

    Raises:
        KeyError: A documented type is not one of Python's subsets.
    """
    name = function["name"]
    properties = function["parameters"]["properties"]
    return CallLabel(
        name=name,
        tool_name=tool_name(name),
        allowed=allowed,
        checks={
            param: compile_value(properties[param], values)
            for param, values in allowed.items()
            if param in properties
        },
        required=tuple(function["parameters"]["required"]),
        expected=tuple(param for param, values in allowed.items() if OMITTABLE not in values),
    )


def compile_value(schema: Mapping[str, Any], allowed: Sequence[JsonValue]) -> ValueCheck:
    """The check of one parameter: first the type, then the value.

    A label may hold values of another type than the documented one, such as the name of a variable
    or null. Then that type is accepted beside the documented one, and values are compared as
    they are.
    """
    documented = schema["type"]
    expected = _PYTHON_TYPES[documented]
    label_type = _first_type(allowed)
    elements: Callable[[list[Any]], bool] | None = None
    element_type = None
    if documented in _LISTS:
        element_type = _PYTHON_TYPES[schema["items"]["type"]]
        elements = _compile_elements(element_type, allowed)
    if label_type is None or label_type is expected:
        compare = _compile_plain(expected, element_type, allowed)
    else:
        compare = _compile_as_is(allowed)
    # Nothing at all is allowed: officially that is found while looking for an element type.
    wrong_elements = ErrorType.ELEMENT_TYPE if allowed else ErrorType.TYPE

    def check(value: Any) -> ErrorType | None:
        actual = type(value)
        if actual is expected:
            if elements is not None and not elements(value):
                return wrong_elements
            return compare(value)
        return compare(value) if actual is label_type else ErrorType.TYPE

    if documented == "float":
        return _widening(check)
    return _listing(check) if documented == "tuple" else check


def standard_form(text: str) -> str:
    """A text as comparisons see it: some characters removed, lower case, one kind of quote.

    Removed are the blank and `,` `.` `/` `-` `_` `*` `^`, and nothing else.
    """
    # In this order: lower() looks at the neighbours of a capital sigma.
    return text.translate(_REMOVED).lower().replace("'", '"')


def _standard(value: Any) -> Any:
    return standard_form(value) if type(value) is str else value


def _first_type(allowed: Sequence[JsonValue]) -> type | None:
    return next((type(value) for value in allowed if value != OMITTABLE), None)


def _widening(check: ValueCheck) -> ValueCheck:
    def widened(value: Any) -> ErrorType | None:
        if type(value) is int:
            try:
                value = float(value)
            except OverflowError:
                # The official code stops here. No label is as large as that.
                return ErrorType.VALUE
        return check(value)

    return widened


def _listing(check: ValueCheck) -> ValueCheck:
    def listed(value: Any) -> ErrorType | None:
        return check(list(value) if type(value) is tuple else value)

    return listed


def _compile_elements(
    element_type: type, allowed: Sequence[JsonValue]
) -> Callable[[list[Any]], bool]:
    """Are the elements of a list of a fitting type, for at least one allowed value?

    Besides the documented type that of the allowed list's first element fits. An allowed value
    that is no list waives the question, and "" is one.
    """
    if any(type(value) is not list for value in allowed):
        return lambda value: True
    choices = [frozenset((element_type, _first_type(value))) for value in allowed]
    return lambda value: any(all(type(item) in types for item in value) for types in choices)


def _compile_plain(
    expected: type, element_type: type | None, allowed: Sequence[JsonValue]
) -> ValueCheck:
    if expected is dict:
        return _compile_objects(allowed)
    if element_type is dict:
        return _compile_object_lists(allowed)
    if expected is str:
        return _compile_texts(allowed)
    if expected is list:
        return _compile_lists(allowed)
    return _compile_as_is(allowed)


def _compile_as_is(allowed: Sequence[JsonValue]) -> ValueCheck:
    values = tuple(allowed)
    return lambda value: None if value in values else ErrorType.VALUE


def _compile_texts(allowed: Sequence[JsonValue]) -> ValueCheck:
    texts = frozenset(value for value in allowed if type(value) is str)
    standard = frozenset(map(standard_form, texts))

    def check(value: str) -> ErrorType | None:
        if value in texts or standard_form(value) in standard:
            return None
        return ErrorType.VALUE_TEXT

    return check


def _compile_lists(allowed: Sequence[JsonValue]) -> ValueCheck:
    # A text among the allowed values is officially read as the list of its characters.
    lists = [
        [_standard(item) for item in value] for value in allowed if isinstance(value, list | str)
    ]

    def check(value: list[Any]) -> ErrorType | None:
        found = [standard_form(item) if type(item) is str else item for item in value]
        return None if found in lists else ErrorType.VALUE_LIST

    return check


def _compile_object(allowed: Mapping[str, Sequence[JsonValue]]) -> ValueCheck:
    values = {key: [_standard(value) for value in choices] for key, choices in allowed.items()}
    expected = tuple(key for key, choices in allowed.items() if OMITTABLE not in choices)

    def check(value: Mapping[Any, Any]) -> ErrorType | None:
        # A missing key is told before anything else that is wrong.
        if any(key not in value for key in expected):
            return ErrorType.OBJECT_KEY
        for key, item in value.items():
            if key not in values:
                return ErrorType.OBJECT_KEY
            if _standard(item) not in values[key]:
                return ErrorType.OBJECT_VALUE
        return None

    return check


def _compile_objects(allowed: Sequence[JsonValue]) -> ValueCheck:
    checks = [_compile_object(value) for value in allowed if isinstance(value, Mapping)]
    return lambda value: _last_fault(checks, value, ErrorType.OBJECT_UNCLEAR)


def _compile_object_lists(allowed: Sequence[JsonValue]) -> ValueCheck:
    # "" has no elements, as the empty list has none, so that it accepts the empty list.
    lists = [value for value in allowed if isinstance(value, list) or value == OMITTABLE]
    checks = [_compile_object_list(value) for value in lists]
    return lambda value: _last_fault(checks, value, ErrorType.OBJECTS_UNCLEAR)


def _compile_object_list(allowed: Sequence[JsonValue]) -> ValueCheck:
    checks = [_compile_objects([item]) for item in allowed]

    def check(value: list[Any]) -> ErrorType | None:
        if len(value) != len(checks):
            return ErrorType.OBJECT_COUNT
        for item, check_item in zip(value, checks, strict=True):
            # The official code stops at an element that is no object.
            fault = check_item(item) if type(item) is dict else ErrorType.ELEMENT_TYPE
            if fault is not None:
                return fault
        return None

    return check


def _last_fault(checks: Sequence[ValueCheck], value: Any, otherwise: ErrorType) -> ErrorType | None:
    """None where one of the checks passes, otherwise the fault that the last of them found."""
    fault: ErrorType | None = otherwise
    for check in checks:
        fault = check(value)
        if fault is None:
            break
    return fault
