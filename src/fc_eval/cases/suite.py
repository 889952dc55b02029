"""`SuiteV1`: what the lines of a suite must add up to.

`suite.json` stands beside the case files and has one entry a scenario: its category, and what all
its variants have in common. Everything else, such as how many cases there are or how many are
negative, follows from it and is written nowhere. Single lines are checked elsewhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Final, Literal, TypeAlias

from fc_eval.errors import CaseError, nearest
from fc_eval.records.case import Case, Dimension
from fc_eval.records.codec import JsonValue, from_plain
from fc_eval.records.strict import StrictJsonError, parse_strict

SUITE_SCHEMA: Final = "SuiteV1"

_FINAL_NUMBER: Final = re.compile(r"(.*?)(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """A case and where it stands; `line` counts from 1."""

    path: str
    line: int
    case: Case

    @property
    def place(self) -> str:
        """`path:line`."""
        return f"{self.path}:{self.line}"

    def fault(self, where: str, problem: str, fix: str) -> CaseError:
        """A fault of this line, in the field *where*."""
        return CaseError(f"{where}: {problem}", path=self.path, line=self.line, fix=fix)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """What all variants of a scenario have in common.

    `first_id` is the id of the first variant; the others follow it. `tools` are the tools of the
    golden calls, in order. `allowed_extra` is None where the default whitelist holds.
    """

    dimension: Dimension
    first_id: str
    tools: tuple[str, ...]
    order_sensitive: bool
    negative: bool
    allowed_extra: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteV1:
    """A suite file: how many variants a scenario has and what each is, and the scenarios.

    `variants` describes the variants in their order; `categories` maps a scenario's category,
    which no other scenario has, to the scenario.
    """

    schema: Literal["SuiteV1"]
    variants: tuple[str, ...]
    categories: Mapping[str, Scenario]

    def ids(self, category: str) -> tuple[str, ...]:
        """The case ids of a category, in order: its first id, then one up for each variant."""
        match = _FINAL_NUMBER.fullmatch(self.categories[category].first_id)
        if match is None:
            raise ValueError(f"first_id of {category!r} does not end in a number")
        head, number = match.groups()
        width = len(number)
        return tuple(f"{head}{int(number) + i:0{width}}" for i in range(len(self.variants)))


SuiteFile: TypeAlias = tuple[str, str]
"""A suite file's path and text."""


def parse_suite(file: SuiteFile) -> tuple[SuiteV1 | None, list[CaseError]]:
    """Read a suite file: the suite, or None and all that is wrong with it."""
    path, text = file
    try:
        value = parse_strict(text)
    except StrictJsonError as error:
        problem = f"this is no JSON: {error.problem}"
        return None, [CaseError(problem, path=path, line=error.line, fix="correct it there")]
    faults = [
        CaseError(
            f"{category}: {problem}" if category else problem,
            path=path,
            line=line_of(text, category) if category else None,
            fix=fix,
        )
        for category, problem, fix in _faults(value)
    ]
    return (None, faults) if faults else (from_plain(SuiteV1, value), [])


def line_of(text: str, key: str) -> int | None:
    """The line of a suite file's *text* in which the object under *key* begins."""
    match = re.search(rf"{re.escape(json.dumps(key, ensure_ascii=False))}\s*:\s*\{{", text)
    return text.count("\n", 0, match.start()) + 1 if match else None


def suite_faults(suite: SuiteV1, file: SuiteFile, cases: Sequence[Located]) -> Iterator[CaseError]:
    """Where the cases of a suite's folder are not what its file says."""
    path, text = file
    by_category: dict[str, list[Located]] = {}
    for located in cases:
        by_category.setdefault(located.case.category, []).append(located)
    for name, group in by_category.items():
        if name not in suite.categories:
            idle = [other for other in suite.categories if other not in by_category]
            fix = nearest(name, idle, otherwise=f"add an entry {name!r} to {path}")
            yield group[0].fault("category", f"{path} has no category {name!r}", fix)
    for name, scenario in suite.categories.items():
        group = by_category.get(name, [])
        ids = suite.ids(name)
        found = [located.case.id for located in group]
        if found != list(ids):
            yield CaseError(
                f"category {name!r} has the cases {_listed(found)}, expected {_listed(ids)}",
                path=path,
                line=line_of(text, name),
                fix="write its cases in this order, or correct first_id",
            )
        for located in group:
            yield from _scenario_faults(scenario, located, path)
        for located in group[1:]:
            yield from _variant_faults(group[0], located)


def _listed(ids: Sequence[str]) -> str:
    return ", ".join(ids) or "(none)"


def _faults(value: JsonValue) -> Iterator[tuple[str, str, str]]:
    """What is wrong with a suite file's value: category (or nothing), problem, mend."""
    if not isinstance(value, dict):
        yield "", "this is no JSON object", 'write {"schema": "SuiteV1", ...}'
        return
    categories = value.get("categories")
    if isinstance(categories, dict):
        # Each scenario is read by itself below, so that its fault can be told with its name.
        value = {**value, "categories": {}}
    yield from _record_faults("", SuiteV1, value)
    if value.get("variants") == []:
        yield "", "variants is empty", "describe each variant of a scenario in its order"
    for name, entry in categories.items() if isinstance(categories, dict) else ():
        faults = list(_record_faults(name, Scenario, entry))
        yield from faults
        if not faults and not _FINAL_NUMBER.fullmatch(entry["first_id"]):
            problem = f"first_id {entry['first_id']!r} does not end in a number"
            yield name, problem, "write it like fc-d1-001"


def _record_faults(
    category: str, record: type[SuiteV1 | Scenario], value: JsonValue
) -> Iterator[tuple[str, str, str]]:
    known = [item.name for item in fields(record)]
    for key in value if isinstance(value, dict) else ():
        if key not in known:
            yield category, f"unknown key {key!r}", nearest(key, known, otherwise="delete it")
    try:
        from_plain(record, value)
    except ValueError as error:
        yield category, str(error), "correct the field"


def _scenario_faults(scenario: Scenario, located: Located, path: str) -> Iterator[CaseError]:
    case = located.case
    golden = case.golden
    tools = tuple(call.tool for call in golden.calls)
    for where, actual, expected in (
        ("dimension", case.dimension, scenario.dimension),
        ("golden.calls", tools, scenario.tools),
        ("golden.order_sensitive", golden.order_sensitive, scenario.order_sensitive),
        ("golden.allowed_extra", golden.allowed_extra, scenario.allowed_extra),
        ("negative", case.negative, scenario.negative),
    ):
        if actual != expected:
            problem = f"{_said(actual)}, but {path} says {_said(expected)} for {case.category!r}"
            yield located.fault(where, problem, "correct the one that is wrong")


def _said(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(value)}]"
    return "nothing" if value is None else str(value)


def _variant_faults(first: Located, other: Located) -> Iterator[CaseError]:
    ours, theirs = other.case.to_dict(), first.case.to_dict()
    for name in ours:
        # A differing dimension is told once, against the suite file.
        if name not in ("id", "instruction", "dimension") and ours[name] != theirs[name]:
            problem = f"not as in {first.case.id!r} ({first.place}), the first of its scenario"
            yield other.fault(name, problem, "let only id and instruction differ")
