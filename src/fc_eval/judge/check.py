"""What is wrong with the arguments of one actual call, taken for one golden call?

A field is a top-level parameter and gets at most one code. Which call stands for which golden call
is asked in `judge.align`, how values are compared in `judge.rules`. The codes are found for
every possible pair, the texts are written only for the pairs that are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fc_eval.domains.protocol import Domain, SchemaFault, Tool, ToolKind
from fc_eval.judge.rules import Agreement, compare, equal, is_empty
from fc_eval.records.calls import Call
from fc_eval.records.case import GoldenCall, ParamRule
from fc_eval.records.codec import JsonValue
from fc_eval.records.text import has_endless_number, nests_too_deep, printable, show_value
from fc_eval.records.verdict import Mismatch, Taxonomy

_NO_SUCH_PARAMETER = ("additionalProperties", "unevaluatedProperties", "propertyNames")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExaminedCall:
    """An actual call, and what can be said of it without any golden call.

    `position` counts the calls of the trace from 0. `tool` is None where no tool has the call's
    name. `schema_faults` holds the first fault of each parameter, under None that of the arguments
    as a whole; `unknown_ids` where identifiers stand that do not exist, by parameter.
    """

    position: int
    call: Call
    tool: Tool | None
    schema_faults: Mapping[str | None, SchemaFault]
    unknown_ids: Mapping[str, tuple[str, ...]]

    @property
    def kind(self) -> ToolKind | None:
        """The kind of the tool, None where there is no such tool."""
        return None if self.tool is None else self.tool.kind

    @property
    def nameless(self) -> bool:
        """Whether the endpoint reported a broken call, of which nothing could be read."""
        return self.call.tool is None and self.call.arguments is None

    @property
    def is_sound(self) -> bool:
        """Whether tool, arguments and identifiers exist and fit."""
        return (
            self.tool is not None
            and self.call.arguments is not None
            and not self.schema_faults
            and not self.unknown_ids
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldFault:
    """The code of one field; `param` is None where the arguments as a whole are at fault."""

    param: str | None
    code: Taxonomy


def examine(position: int, call: Call, domain: Domain) -> ExaminedCall:
    """Ask schema and fixtures about *call*, once for all the golden calls it may stand for."""
    tool = domain.toolset.get(call.tool)
    schema_faults: dict[str | None, SchemaFault] = {}
    unknown_ids = {}
    if tool is not None and call.arguments is not None:
        schema_faults = _schema_faults(tool, call.arguments, domain)
        for name, value in sorted(call.arguments.items()):
            unknown = () if name in schema_faults else domain.unknown_ids(name, value)
            if unknown:
                unknown_ids[name] = unknown
    return ExaminedCall(
        position=position,
        call=call,
        tool=tool,
        schema_faults=schema_faults,
        unknown_ids=unknown_ids,
    )


def _schema_faults(
    tool: Tool, arguments: Mapping[str, JsonValue], domain: Domain
) -> dict[str | None, SchemaFault]:
    # A validator descends by recursion and writes values down, so that it never gets to see a
    # value or a number without end; no tool asks for one.
    endless = {name: rule for name, value in arguments.items() if (rule := _endless(value))}
    finite = {name: value for name, value in arguments.items() if name not in endless}
    faults: dict[str | None, SchemaFault] = {
        name: SchemaFault(param=name, rule=rule, path=name, message=f"{rule} without end")
        for name, rule in sorted(endless.items())
    }
    for fault in domain.toolset.schema_faults(tool.name, finite):
        faults.setdefault(fault.param, fault)
    return faults


def _endless(value: JsonValue) -> str | None:
    if nests_too_deep(value):
        return "depth"
    return "digits" if has_endless_number(value) else None


def differing_fields(golden: GoldenCall, examined: ExaminedCall) -> tuple[FieldFault, ...]:
    """The fields in which *examined* differs from *golden*, a call of the same tool.

    Golden fields come first, in the order of the golden call, then the parameters that it does
    not have, by name. A schema fault that no parameter can be blamed for, such as a broken
    `maxProperties`, counts as one for the call as a whole, where nothing else is wrong with it.

    Returns:
        At most one fault for each field; empty where the two agree.
    """
    arguments = examined.call.arguments
    if arguments is None:
        return (FieldFault(param=None, code=Taxonomy.PARAM_WRONG_FORMAT),)
    extra = sorted(name for name in arguments if name not in golden.params)
    codes = {name: _golden_field(name, golden, examined, arguments) for name in golden.params}
    codes |= {name: _extra_field(name, examined, arguments) for name in extra}
    found = tuple(
        FieldFault(param=name, code=code) for name, code in codes.items() if code is not None
    )
    if examined.schema_faults and not found:
        return (FieldFault(param=None, code=Taxonomy.PARAM_WRONG_FORMAT),)
    return found


def _golden_field(
    name: str,
    golden: GoldenCall,
    examined: ExaminedCall,
    arguments: Mapping[str, JsonValue],
) -> Taxonomy | None:
    if name not in arguments:
        return Taxonomy.PARAM_MISSING
    if name in examined.schema_faults:
        return Taxonomy.PARAM_WRONG_FORMAT
    rule = golden.rule(name)
    if rule is ParamRule.ANY and is_empty(arguments[name]):
        return Taxonomy.PARAM_MISSING
    if name in examined.unknown_ids:
        return Taxonomy.PARAM_HALLUCINATED_ID
    return {
        Agreement.EQUAL: None,
        Agreement.OTHER_VALUE: Taxonomy.PARAM_WRONG_VALUE,
        Agreement.OTHER_FORMAT: Taxonomy.PARAM_WRONG_FORMAT,
    }[compare(rule, arguments[name], golden.params[name])]


def _extra_field(
    name: str, examined: ExaminedCall, arguments: Mapping[str, JsonValue]
) -> Taxonomy | None:
    if name in examined.schema_faults:
        return Taxonomy.PARAM_WRONG_FORMAT
    if name in examined.unknown_ids:
        return Taxonomy.PARAM_HALLUCINATED_ID
    schema = _schema_of(name, examined)
    if "default" in schema and equal(arguments[name], schema["default"]):
        return None
    return Taxonomy.PARAM_UNEXPECTED


def _schema_of(name: str, examined: ExaminedCall) -> Mapping[str, JsonValue]:
    schema = examined.tool.properties.get(name) if examined.tool is not None else None
    # A schema may also be `true` or `false`, which say nothing about a default.
    return schema if isinstance(schema, Mapping) else {}


def describe_field(
    path: str, fault: FieldFault, golden: GoldenCall, examined: ExaminedCall
) -> Mismatch:
    """Write down one fault of the golden call at *path*, such as `calls[0]`."""
    name = fault.param
    if name is None:
        return _describe_arguments(path, fault, golden, examined)
    arguments = examined.call.arguments or {}
    return Mismatch(
        path=f"{path}.{name}",
        code=fault.code.value,
        golden=golden.params.get(name),
        actual=arguments.get(name),
        message=_field_message(name, fault.code, golden, examined),
    )


def _describe_arguments(
    path: str, fault: FieldFault, golden: GoldenCall, examined: ExaminedCall
) -> Mismatch:
    call = examined.call
    if call.arguments is None:
        why = "" if call.parse_error is None else f": {printable(call.parse_error, 120)}"
        actual: JsonValue = call.arguments_raw
        message = f"the arguments of {call_name(call)} are no JSON object{why}"
    else:
        rules = ", ".join(sorted({broken.rule for broken in examined.schema_faults.values()}))
        actual = dict(call.arguments)
        message = f"the arguments of {call_name(call)} break the tool's schema ({rules})"
    return Mismatch(
        path=path,
        code=fault.code.value,
        golden=dict(golden.params),
        actual=actual,
        message=message,
    )


def _field_message(name: str, code: Taxonomy, golden: GoldenCall, examined: ExaminedCall) -> str:
    shown = printable(name, 80)
    if code is Taxonomy.PARAM_MISSING:
        return _missing_message(shown, name, golden, examined)
    actual = show_value((examined.call.arguments or {})[name])
    if code is Taxonomy.PARAM_HALLUCINATED_ID:
        places = [place for place in examined.unknown_ids[name] if place != name]
        where = f" (at {printable(', '.join(places), 80)})" if places else ""
        return f"{shown} is {actual}, and no such identifier exists{where}"
    if code is Taxonomy.PARAM_UNEXPECTED:
        return f"{shown} is {actual}, which nobody asked for"
    if name in examined.schema_faults:
        return f"{shown} is {actual}, {_schema_message(name, examined)}"
    expected = _expected(name, golden)
    if code is Taxonomy.PARAM_WRONG_FORMAT:
        return f"{shown} is {actual}, expected ISO 8601 like {expected}, with a zone as it has one"
    return f"{shown} is {actual}, expected {expected}"


def _missing_message(shown: str, name: str, golden: GoldenCall, examined: ExaminedCall) -> str:
    if name in (examined.call.arguments or {}):
        return f"{shown} is empty, expected {_expected(name, golden)}"
    return f"{shown} is missing, expected {_expected(name, golden)}"


def _expected(name: str, golden: GoldenCall) -> str:
    value = show_value(golden.params[name])
    match golden.rule(name):
        case ParamRule.ANY:
            return "any value"
        case ParamRule.CONTAINS:
            return f"a text that contains {value}"
        case ParamRule.NORMALIZED_STR:
            return f"{value} in any case"
        case _:
            return value


def _schema_message(name: str, examined: ExaminedCall) -> str:
    fault = examined.schema_faults[name]
    tool = call_name(examined.call)
    if fault.rule in _NO_SUCH_PARAMETER and fault.path == name:
        return f"and {tool} has no such parameter"
    place = "" if fault.path == name else f" at {printable(fault.path, 80)}"
    # The validator's own text shows whole values, and differs between its versions.
    wanted = _schema_of(name, examined).get(fault.rule) if fault.path == name else None
    rule = fault.rule if wanted is None else f"{fault.rule}: {show_value(wanted)}"
    return f"which the schema of {tool} refuses{place} ({rule})"


def call_name(call: Call) -> str:
    """The tool's name as it came, fit for a message."""
    return "a call without a name" if call.tool is None else printable(call.tool, 64) or "''"
