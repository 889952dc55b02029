"""A case file's text to cases: everything that a line tells by itself.

Whether the tools, identifiers and parameters that a line names exist is asked in `cases.check`,
whether the lines together are the suite that was meant in `cases.suite`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final

from fc_eval.errors import CaseError, FaultsError, nearest
from fc_eval.records.case import Case, Context, Dimension, Golden, GoldenCall, ParamRule
from fc_eval.records.codec import JsonValue
from fc_eval.records.strict import StrictJsonError, parse_strict

DB_FIXTURE: Final = "standard"
"""The fixtures that a case plays in; there is one set of them."""

FC_ID: Final = re.compile(r"fc-d([1-4])-(\d{3})")
"""An id that carries its dimension. Ids of another form carry nothing."""

_FC_PREFIX: Final = "fc-d"
_BOM: Final = "\ufeff"

Fault = tuple[str, str, str]
"""A field's path, what is wrong with it, and the mend."""


def load_cases(path: str | PathLike[str]) -> list[Case]:
    """The cases of a JSONL file, in order; the case at index *i* stands in line *i* + 1.

    What needs a domain, such as whether a tool exists, is not checked here; see
    `cases.check.validate`.

    Raises:
        FaultsError: With every fault of the file, each a `CaseError`.
    """
    try:
        text = Path(path).read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        fault = CaseError("this is no UTF-8", path=path, line=line, fix="save the file as UTF-8")
        raise FaultsError([fault]) from None
    except OSError as error:
        problem = f"can't be read: {error.strerror or error}"
        raise FaultsError([CaseError(problem, path=path, fix="correct the path")]) from None
    located, faults = parse_file(text, path)
    if faults:
        raise FaultsError(faults)
    return [case for _, case in located]


def parse_file(
    text: str, path: str | PathLike[str]
) -> tuple[list[tuple[int, Case]], list[CaseError]]:
    """The cases of a file with their line numbers, and all faults of all other lines.

    Args:
        text: The file's text, line ends as they were written.
        path: The file, for the faults.
    """
    path = fspath(path)
    if not text.strip():
        fix = "write a case, or delete the file"
        return [], [CaseError("the file holds no case", path=path, fix=fix)]
    located: list[tuple[int, Case]] = []
    faults: list[CaseError] = []
    if text.startswith(_BOM):
        fix = "save the file as UTF-8 without BOM"
        faults.append(CaseError("a byte order mark", path=path, line=1, fix=fix))
    # JSON Lines end at \n alone; str.splitlines would also cut at U+2028 and its like.
    *lines, rest = text.removeprefix(_BOM).split("\n")
    if rest:
        lines.append(rest)
        problem, fix = "no newline at the end of the file", "end the last line with one"
        faults.append(CaseError(problem, path=path, line=len(lines), fix=fix))
    for number, line in enumerate(lines, 1):
        case, found = _parse_line(line)
        if case is not None:
            located.append((number, case))
        faults += [
            CaseError(f"{where}: {problem}" if where else problem, path=path, line=number, fix=fix)
            for where, problem, fix in found
        ]
    return located, sorted(faults, key=lambda fault: fault.line or 0)


def string_leaves(value: JsonValue) -> Iterator[str]:
    """The strings in a parameter's value, at any depth: what a string rule holds for."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from string_leaves(item)


def _parse_line(line: str) -> tuple[Case | None, list[Fault]]:
    if not line.strip():
        return None, [("", "a blank line", "delete it")]
    try:
        value = parse_strict(line)
    except StrictJsonError as error:
        return None, [("", f"this is no JSON: {error.problem}", "correct the line")]
    if not isinstance(value, dict):
        return None, [("", "the line is no JSON object", 'write {"id": ..., "dimension": ...}')]
    faults = list(_case_faults(value))
    return (None, faults) if faults else (Case.from_dict(value), [])


def _case_faults(data: dict[str, Any]) -> Iterator[Fault]:
    yield from _key_faults("", data, required=_names(Case))
    for name in ("category", "instruction"):
        yield from _text_faults(name, data)
    yield from _id_faults(data)
    yield from _context_faults(data)
    for name in ("negative", "skip"):
        yield from _bool_faults(name, data)
    yield from _skip_faults(data)
    faults = list(_golden_faults(data))
    yield from faults or _behaviour_faults(data)


def _names(record: type) -> tuple[str, ...]:
    return tuple(item.name for item in fields(record))


def _key_faults(
    where: str,
    data: Mapping[str, Any],
    *,
    required: Collection[str],
    optional: Collection[str] = (),
) -> Iterator[Fault]:
    dot = f"{where}." if where else ""
    missing = [name for name in required if name not in data]
    for name in data:
        if name not in required and name not in optional:
            fix = nearest(name, [*missing, *optional], otherwise="delete the field")
            yield f"{dot}{name}", "unknown field", fix
    for name in missing:
        yield f"{dot}{name}", "the field is missing", f"add {name!r}"


def _text_faults(name: str, data: Mapping[str, Any], where: str | None = None) -> Iterator[Fault]:
    value = data.get(name, "-")
    if not isinstance(value, str):
        yield where or name, f"{_shown(value)} is no string", "write a string"
    elif not value.strip():
        yield where or name, "it is empty", "write what it says"


def _bool_faults(name: str, data: Mapping[str, Any], where: str | None = None) -> Iterator[Fault]:
    value = data.get(name, False)
    if not isinstance(value, bool):
        yield where or name, f"{_shown(value)} is no boolean", "write true or false"


def _id_faults(data: Mapping[str, Any]) -> Iterator[Fault]:
    dimension = data.get("dimension", Dimension.D1)
    known = [item.value for item in Dimension]
    if dimension not in known:
        yield "dimension", f"{_shown(dimension)} is none", f"write one of {', '.join(known)}"
    faults = list(_text_faults("id", data))
    yield from faults
    name = data.get("id")
    if faults or name is None:
        return
    if "::" in name or any(_breaks_a_node_id(char) for char in name):
        fix = "use letters, digits and hyphens"
        yield "id", f"{name!r} has '::', a blank or a control character", fix
    elif name.startswith(_FC_PREFIX):
        match = FC_ID.fullmatch(name)
        if match is None:
            yield "id", f"{name!r} is not of the form fc-d[1-4]-NNN", "write it like fc-d1-001"
        elif dimension in known and dimension != f"D{match[1]}":
            fix = f"write 'D{match[1]}', or give the case an id of {dimension}"
            yield "dimension", f"{dimension!r}, but the id {name!r} says D{match[1]}", fix


def _breaks_a_node_id(char: str) -> bool:
    return char.isspace() or unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp", "Zs")


def _context_faults(data: Mapping[str, Any]) -> Iterator[Fault]:
    context = data.get("context")
    if not isinstance(context, dict):
        if "context" in data:
            fix = f'write {{"db_fixture": "{DB_FIXTURE}", "notes": "..."}}'
            yield "context", f"{_shown(context)} is no object", fix
        return
    yield from _key_faults("context", context, required=_names(Context))
    yield from _text_faults("notes", context, "context.notes")
    fixture = context.get("db_fixture", DB_FIXTURE)
    if fixture != DB_FIXTURE:
        yield "context.db_fixture", f"there is no {_shown(fixture)}", f"write {DB_FIXTURE!r}"


def _skip_faults(data: Mapping[str, Any]) -> Iterator[Fault]:
    if "skip_reason" not in data:
        return
    reason = data["skip_reason"]
    if data.get("skip") is True:
        if not isinstance(reason, str) or not reason.strip():
            yield "skip_reason", "a skipped case says no reason", "write why it is skipped"
    elif data.get("skip") is False and reason is not None:
        yield "skip_reason", "a case that is not skipped has a reason", "write null, or skip: true"


def _golden_faults(data: Mapping[str, Any]) -> Iterator[Fault]:
    golden = data.get("golden")
    if not isinstance(golden, dict):
        if "golden" in data:
            fix = 'write {"calls": [...], "order_sensitive": false}'
            yield "golden", f"{_shown(golden)} is no object", fix
        return
    optional = ("allowed_extra",)
    required = [name for name in _names(Golden) if name not in optional]
    yield from _key_faults("golden", golden, required=required, optional=optional)
    yield from _bool_faults("order_sensitive", golden, "golden.order_sensitive")
    if "allowed_extra" in golden:
        yield from _extra_faults("golden.allowed_extra", golden["allowed_extra"])
    calls = golden.get("calls", [])
    if not isinstance(calls, list):
        yield "golden.calls", f"{_shown(calls)} is no list", 'write [{"tool": ..., "params": ...}]'
        return
    for position, call in enumerate(calls):
        yield from _call_faults(f"golden.calls[{position}]", call)


def _extra_faults(where: str, names: JsonValue) -> Iterator[Fault]:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        yield (
            where,
            f"{_shown(names)} is no list of tool names",
            'write a list, such as ["get_user"]',
        )
        return
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield where, f"{name!r} stands twice", "name each tool once"


def _call_faults(where: str, call: JsonValue) -> Iterator[Fault]:
    if not isinstance(call, dict):
        yield where, f"{_shown(call)} is no object", 'write {"tool": ..., "params": {...}}'
        return
    optional = ("param_rules",)
    required = [name for name in _names(GoldenCall) if name not in optional]
    yield from _key_faults(where, call, required=required, optional=optional)
    yield from _text_faults("tool", call, f"{where}.tool")
    params = call.get("params", {})
    if not isinstance(params, dict):
        yield f"{where}.params", f"{_shown(params)} is no object", "write {} for no parameters"
        params = {}
    rules = call.get("param_rules", {})
    if not isinstance(rules, dict):
        yield f"{where}.param_rules", f"{_shown(rules)} is no object", 'write {"name": "rule"}'
        return
    for name, rule in rules.items():
        yield from _rule_faults(f"{where}.param_rules.{name}", name, rule, params)


def _rule_faults(
    where: str, name: str, rule: JsonValue, params: Mapping[str, Any]
) -> Iterator[Fault]:
    known = [item.value for item in ParamRule]
    if rule not in known:
        fix = nearest(str(rule), known, otherwise=f"write one of {', '.join(known)}")
        yield where, f"unknown rule {_shown(rule)}", fix
    if name not in params:
        fix = nearest(name, list(params), otherwise="add it to params, or drop the rule")
        yield where, f"there is a rule for {name!r}, but params has no such key", fix
    elif rule == ParamRule.CONTAINS and (
        params[name] in ([], {}) or "" in string_leaves(params[name])
    ):
        where = where.replace(".param_rules.", ".params.")
        yield where, "an empty text is contained in every text", "write what must be contained"


def _behaviour_faults(data: Mapping[str, Any]) -> Iterator[Fault]:
    """Which mixes of `negative`, `calls` and `allowed_extra` mean something."""
    golden = data.get("golden")
    negative = data.get("negative")
    if not isinstance(golden, dict) or not isinstance(negative, bool):
        return
    extra = golden.get("allowed_extra")
    if extra is None and negative:
        fix = "write [] for no call at all, or name the read tools that are fine"
        yield "golden.allowed_extra", "a negative case does not state it", fix
    if golden.get("calls") != []:
        return
    if golden.get("order_sensitive"):
        yield "golden.order_sensitive", "true, but there is no call to be in order", "write false"
    if extra is None and not negative:
        fix = "name the read tools that are fine; for no call at all write [] and negative: true"
        yield "golden.allowed_extra", "a case without golden calls does not state it", fix
    if extra == [] and not negative:
        yield "negative", "a case that may call nothing is negative", "write true"
    if extra and negative:
        fix = "write [], or negative: false where reading first is fine"
        yield "golden.allowed_extra", "a negative case without calls allows reads", fix


def _shown(value: JsonValue) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
