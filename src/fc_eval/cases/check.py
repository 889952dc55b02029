"""Case files to a checked suite: `validate`, and what no line can tell by itself.

Here a line meets the domain (do its tools and identifiers exist, do its parameters satisfy the
tools' schemas) and the other lines (is its id, is its instruction its own). Every fault of every
file is told at once, in the order of the places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import PurePath

from fc_eval.cases.parse import FC_ID, parse_file, string_leaves
from fc_eval.cases.suite import Located, SuiteFile, parse_suite, suite_faults
from fc_eval.domains.protocol import Domain, ToolKind
from fc_eval.errors import CaseError, FaultsError, FcEvalError, nearest
from fc_eval.judge.chain import early_requests, stray_confirms
from fc_eval.judge.rules import is_iso8601
from fc_eval.records.case import Case, Dimension, GoldenCall, ParamRule


@dataclass(frozen=True)
class Suite:
    """All cases of a session, checked.

    `files` maps a file's path, as it was given, to its cases with their line numbers.
    """

    files: Mapping[str, tuple[tuple[int, Case], ...]]

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """All cases, file after file."""
        return tuple(case for located in self.files.values() for _, case in located)

    @cached_property
    def totals(self) -> Mapping[Dimension, int]:
        """The number of cases of each dimension that has any, in order."""
        counted = Counter(case.dimension for case in self.cases)
        return {dimension: counted[dimension] for dimension in Dimension if counted[dimension]}

    @cached_property
    def negatives(self) -> int:
        """The number of negative cases."""
        return sum(case.negative for case in self.cases)


def validate(
    *,
    files: Sequence[tuple[str, str]],
    suite_text: SuiteFile | None,
    domain: Domain,
) -> Suite:
    """Check case files and what they say together.

    Args:
        files: Path and text of each case file.
        suite_text: Path and text of `suite.json`, None where there is none. It speaks for the
            case files of its own folder.
        domain: The domain that all of them play in.

    Raises:
        FaultsError: With every fault that was found, each a `CaseError`.
    """
    found: dict[str, tuple[tuple[int, Case], ...]] = {}
    faults: list[CaseError] = []
    for path, text in files:
        cases, wrong = parse_file(text, path)
        found[path] = tuple(cases)
        faults += wrong
    readable = not faults
    located = [
        Located(path=path, line=line, case=case)
        for path, cases in found.items()
        for line, case in cases
    ]
    suite = None
    if suite_text is not None:
        suite, wrong = parse_suite(suite_text)
        faults += wrong
    faults += check_cases(located, domain)
    if readable:
        # A line that can't be read may be the one that a gap seems to miss.
        faults += _gaps(located)
    if suite is not None and suite_text is not None and readable:
        # With lines that can't be read, every count would be off as well.
        folder = PurePath(suite_text[0]).parent
        inside = [item for item in located if PurePath(item.path).parent == folder]
        faults += suite_faults(suite, suite_text, inside)
    if faults:
        places = {path: position for position, path in enumerate(found)}
        raise FaultsError(sorted(faults, key=lambda fault: _place(fault, places)))
    return Suite(files=found)


def check_cases(cases: Sequence[Located], domain: Domain) -> list[CaseError]:
    """The faults of cases against the domain and against each other."""
    faults = [fault for located in cases for fault in _domain_faults(located, domain)]
    faults += _repeated("id", cases, lambda case: case.id)
    # "Twice" is what a reader would call twice: blanks around and upper case make no difference.
    faults += _repeated("instruction", cases, lambda case: case.instruction.strip().casefold())
    return faults


def _place(fault: FcEvalError, places: Mapping[str, int]) -> tuple[int, int]:
    return places.get(fault.path or "", len(places)), fault.line or 0


def _repeated(
    where: str, cases: Sequence[Located], key: Callable[[Case], str]
) -> Iterator[CaseError]:
    first: dict[str, Located] = {}
    for located in cases:
        other = first.setdefault(key(located.case), located)
        if other is not located:
            problem = f"the same as in {other.place}"
            yield located.fault(where, problem, f"give each case an {where} of its own")


def _gaps(cases: Sequence[Located]) -> Iterator[CaseError]:
    """Ids that carry a dimension count up in it without a gap."""
    numbered: dict[str, dict[int, Located]] = {}
    for located in cases:
        match = FC_ID.fullmatch(located.case.id)
        if match is not None:
            numbered.setdefault(match[1], {}).setdefault(int(match[2]), located)
    for dimension, found in numbered.items():
        numbers = sorted(found)
        for before, number in pairwise(numbers):
            if number != before + 1:
                missing = f"fc-d{dimension}-{before + 1:03}"
                problem = f"{found[number].case.id!r} comes next after {found[before].case.id!r}"
                yield found[number].fault("id", problem, f"write {missing!r}")


def _domain_faults(located: Located, domain: Domain) -> Iterator[CaseError]:
    golden = located.case.golden
    yield from _extra_faults(located, domain)
    for position, call in enumerate(golden.calls):
        where = f"golden.calls[{position}]"
        if call.tool not in domain.toolset:
            fix = nearest(call.tool, domain.toolset.names(), otherwise="write a tool of the domain")
            yield located.fault(f"{where}.tool", f"there is no tool {call.tool!r}", fix)
            continue
        yield from _schema_faults(located, domain, where, call)
        yield from _id_faults(located, domain, where, call)
        yield from _date_faults(located, where, call)
    yield from _chain_faults(located, domain)


def _extra_faults(located: Located, domain: Domain) -> Iterator[CaseError]:
    where = "golden.allowed_extra"
    reads = domain.toolset.names(ToolKind.READ)
    for name in located.case.golden.allowed_extra or ():
        kind = domain.toolset.kind(name)
        if kind is None:
            fix = nearest(name, reads, otherwise="write a read tool of the domain")
            yield located.fault(where, f"there is no tool {name!r}", fix)
        elif kind is not ToolKind.READ:
            problem = f"{name!r} is of kind {kind.value}, and only reads may be extra"
            yield located.fault(where, problem, "drop it, or write it as a golden call")


def _schema_faults(
    located: Located, domain: Domain, where: str, call: GoldenCall
) -> Iterator[CaseError]:
    tool = domain.toolset.get(call.tool)
    properties = list(tool.properties) if tool is not None else []
    for fault in domain.toolset.schema_faults(call.tool, dict(call.params)):
        if fault.rule == "required" and fault.param is not None:
            fix = f"add {fault.param!r}"
        elif fault.rule == "additionalProperties" and fault.param is not None:
            fix = nearest(fault.param, properties, otherwise="drop the parameter")
        else:
            fix = f"write what the schema of {call.tool!r} allows"
        at = f"{where}.params.{fault.path}" if fault.path else f"{where}.params"
        yield located.fault(at, fault.message, fix)


def _id_faults(
    located: Located, domain: Domain, where: str, call: GoldenCall
) -> Iterator[CaseError]:
    for name, value in call.params.items():
        for path in domain.unknown_ids(name, value):
            known = sorted(map(str, domain.known_ids.get(name, ())))
            otherwise = "write an identifier that the domain has"
            problem = f"{value!r} does not exist" if path == name else "it does not exist"
            yield located.fault(
                f"{where}.params.{path}", problem, nearest(str(value), known, otherwise=otherwise)
            )
    link = call.params.get(domain.link, "a value")
    if link is None or (isinstance(link, str) and not link.strip()):
        yield located.fault(f"{where}.params.{domain.link}", "it is empty", 'write "<action_id>"')


def _date_faults(located: Located, where: str, call: GoldenCall) -> Iterator[CaseError]:
    for name, value in call.params.items():
        if call.rule(name) is not ParamRule.NORMALIZED_DATE:
            continue
        leaves = list(string_leaves(value))
        wrong = [text for text in leaves if not is_iso8601(text)]
        if wrong or not isinstance(value, str | list | dict):
            problem = f"{wrong[0] if wrong else value!r} is no ISO 8601 date or time"
            yield located.fault(f"{where}.params.{name}", problem, "write it like 2026-03-12")


def _chain_faults(located: Located, domain: Domain) -> Iterator[CaseError]:
    golden = located.case.golden
    for position in stray_confirms(golden, domain.toolset):
        tool = golden.calls[position].tool
        problem = f"{tool!r} belongs to no request before it"
        fix = "write the request in front of it"
        yield located.fault(f"golden.calls[{position}]", problem, fix)
    for position in early_requests(golden, domain.toolset):
        problem = "this request starts before the one before it is confirmed or aborted"
        fix = "write each confirm right after its request"
        yield located.fault(f"golden.calls[{position}]", problem, fix)
