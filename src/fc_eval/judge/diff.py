"""Golden calls against actual calls, as stable text for whoever reads a FAIL.

Everything shown was decided before: codes and messages come from the judgement, and calls stand
side by side by their tool and their likeness, only for the eye. deepdiff lists what differs inside
nested values; it decides nothing. Where the case stands in its file is the caller's to say.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from fc_eval.judge.rules import equal
from fc_eval.judge.whitelist import allowed_extra
from fc_eval.records.calls import Call
from fc_eval.records.case import Case, GoldenCall, ParamRule
from fc_eval.records.codec import JsonValue
from fc_eval.records.run import Trace
from fc_eval.records.text import columns, fit, nests_too_deep, printable, show_value, wrap
from fc_eval.records.verdict import Judgement, Mismatch

_SHORT_VALUE = 60
_SHORT_TEXT = 300
_SHORT_CALLS = 12
_SHORT_LINES = 400
_MARK = " ≠ "
_BAR = " │ "
_NARROWEST = 40

# deepdiff recurses some frames a level, and compares lists pair by pair.
_NESTED_LEVELS = 20
_NESTED_SIZE = 10_000


def render_diff(
    case: Case, trace: Trace, judgement: Judgement, *, width: int = 100, verbose: bool = False
) -> list[str]:
    """Show why *trace* is judged as it is.

    Args:
        case: The case that was judged.
        trace: The run of it.
        judgement: What the judge said of the two.
        width: Columns of the terminal; lines are no longer, unless *verbose*.
        verbose: Show values, texts and traces whole.

    Returns:
        Lines without line ends, fit for a terminal: no character in them is one that the model
        could use to change what the reader sees. The same inputs give the same lines.
    """
    page = _Page(width=max(width, _NARROWEST), verbose=verbose)
    lines = [
        f"{judgement.verdict.value} {', '.join(judgement.taxonomies)}".rstrip(),
        f"instruction: {page.text(case.instruction)}",
        *page.comparison(case, trace, judgement.diff),
        *page.trace(trace),
        *(f"note: {page.text(warning)}" for warning in judgement.warnings),
    ]
    if verbose:
        return lines
    # A call with thousands of parameters is no reason to scroll for ever.
    rest = len(lines) - _SHORT_LINES
    more = [f"… and {rest} more lines"] if rest > 0 else []
    return [page.cut(line) for line in lines[:_SHORT_LINES]] + more


class _Page:
    def __init__(self, *, width: int, verbose: bool) -> None:
        self._width = width
        self._verbose = verbose
        self._column = (width - len(_MARK)) // 2
        self._value_limit = None if verbose else _SHORT_VALUE

    def text(self, text: str) -> str:
        return printable(text, None if self._verbose else _SHORT_TEXT)

    def cut(self, line: str) -> str:
        return line if columns(line) <= self._width else fit(line, self._width)

    def comparison(self, case: Case, trace: Trace, mismatches: Sequence[Mismatch]) -> Iterator[str]:
        """Golden and actual calls side by side, each with what is wrong with it below."""
        order = "in this order" if case.golden.order_sensitive else "in any order"
        extra = ", ".join(allowed_extra(case.golden)) or "nothing"
        yield from self._beside([f"golden, {order}"], ["actual"])
        yield from self._faults("calls", mismatches)
        partners = _partners(case.golden.calls, trace.calls)
        for index, golden in enumerate(case.golden.calls):
            partner = partners[index]
            call = None if partner is None else trace.calls[partner]
            yield from self._pair(index, golden, partner, call)
            yield from self._faults(f"calls[{index}]", mismatches)
        for position, call in enumerate(trace.calls):
            if position not in partners:
                yield from self._pair(None, None, position, call)
                yield from self._faults(f"actual[{position}]", mismatches)
        yield f"also allowed: {printable(extra, self._width)}"

    def _pair(
        self, index: int | None, golden: GoldenCall | None, position: int | None, call: Call | None
    ) -> Iterator[str]:
        left = [] if golden is None else [f"calls[{index}] {printable(golden.tool, 64)}"]
        right = ["(no such call)"] if call is None else [f"actual[{position}] {_name(call)}"]
        yield from self._beside(left, right)
        params = {} if golden is None else golden.params
        arguments = {} if call is None else call.arguments
        if arguments is None:
            yield from self._beside([], [f"  {self._unreadable(call)}"])
            arguments = {}
        for name in (*params, *sorted(name for name in arguments if name not in params)):
            yield from self._beside(self._golden_field(golden, name), self._field(name, arguments))

    def _golden_field(self, golden: GoldenCall | None, name: str) -> list[str]:
        if golden is None or name not in golden.params:
            return []
        rule = golden.rule(name)
        note = "" if rule is ParamRule.EXACT else f" ({rule.value})"
        return [self._field(name, golden.params)[0] + note]

    def _field(self, name: str, values: Mapping[str, JsonValue]) -> list[str]:
        if name not in values:
            return []
        return [f"  {printable(name, 64)}: {show_value(values[name], self._value_limit)}"]

    def _unreadable(self, call: Call | None) -> str:
        raw = None if call is None else call.arguments_raw
        return f"no JSON object: {show_value(raw, self._value_limit)}"

    def _beside(self, left: Sequence[str], right: Sequence[str]) -> Iterator[str]:
        mine, theirs = self._cell(left), self._cell(right)
        for row in range(max(len(mine), len(theirs))):
            one = mine[row] if row < len(mine) else ""
            other = theirs[row] if row < len(theirs) else ""
            yield f"{fit(one, self._column)}{_BAR}{other}".rstrip()

    def _cell(self, lines: Sequence[str]) -> list[str]:
        if self._verbose:
            return [part for line in lines for part in wrap(line, self._column)]
        return [fit(line, self._column).rstrip() for line in lines]

    def _faults(self, path: str, mismatches: Sequence[Mismatch]) -> Iterator[str]:
        for mismatch in mismatches:
            if mismatch.path == path or mismatch.path.startswith(f"{path}."):
                where = printable(mismatch.path, 80)
                fault = f"{mismatch.code} {where}: {self.text(mismatch.message)}"
                for line in (fault, *map(self.text, _inside(mismatch))):
                    yield from (_MARK + part for part in wrap(line, self._width - len(_MARK)))

    def trace(self, trace: Trace) -> Iterator[str]:
        """The calls with what came back, and the final text."""
        calls = trace.calls if self._verbose else trace.calls[:_SHORT_CALLS]
        yield f"trace: calls {len(trace.calls)}, answers of the model {trace.steps}"
        for position, call in enumerate(calls):
            arguments = call.arguments_raw if call.arguments is None else dict(call.arguments)
            shown = show_value(arguments, self._value_limit)
            flags = f" ({printable(', '.join(call.flags), 80)})" if call.flags else ""
            yield f"  [{position}] {_name(call)} {shown}{flags} -> {self._outcome(call)}"
        if len(calls) < len(trace.calls):
            yield f"  … and {len(trace.calls) - len(calls)} more"
        if trace.final_text is None:
            yield "final text: none"
        else:
            yield f"final text: {self.text(trace.final_text)}"

    def _outcome(self, call: Call) -> str:
        if call.error is None:
            return show_value(call.result, self._value_limit)
        return f"error {printable(call.error.code, 64)}: {self.text(call.error.message)}"


def _name(call: Call) -> str:
    return "(no name)" if call.tool is None else printable(call.tool, 64) or "''"


def _partners(golden: Sequence[GoldenCall], calls: Sequence[Call]) -> list[int | None]:
    """For each golden call the likest call of its tool that stands beside none before it."""
    found: list[int | None] = []
    for wanted in golden:
        free = [
            position
            for position, call in enumerate(calls)
            if call.tool == wanted.tool and position not in found
        ]
        found.append(min(free, key=lambda at: (_distance(wanted, calls[at]), at), default=None))
    return found


def _distance(golden: GoldenCall, call: Call) -> int:
    arguments = call.arguments or {}
    names = {*golden.params, *arguments}
    return sum(
        name not in arguments
        or name not in golden.params
        or (
            golden.rule(name) is ParamRule.EXACT and not equal(arguments[name], golden.params[name])
        )
        for name in names
    )


def _inside(mismatch: Mismatch) -> list[str]:
    """What differs inside two nested values; nothing where they are not nested, or too large."""
    golden, actual = mismatch.golden, mismatch.actual
    is_field = "." in mismatch.path
    if not is_field or not all(isinstance(value, dict | list) for value in (golden, actual)):
        return []
    if any(nests_too_deep(value, _NESTED_LEVELS) for value in (golden, actual)):
        return []
    if len(json.dumps([golden, actual])) > _NESTED_SIZE:
        return []
    import deepdiff

    difference = deepdiff.DeepDiff(
        golden, actual, ignore_order=True, ignore_numeric_type_changes=True
    )
    return sorted(difference.pretty().splitlines())
