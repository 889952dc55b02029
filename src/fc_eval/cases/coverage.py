"""What a suite covers, as Markdown tables: dimensions, categories, tools, rules, order states.

The tables are derived from the cases, so that nobody has to count, and a test compares them with
the ones in the suite's README.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from fc_eval.domains.protocol import Domain
from fc_eval.errors import ToolError
from fc_eval.records.case import Case, Dimension, ParamRule

BEGIN: Final = "<!-- coverage: derived from the cases, see below the tables -->"
END: Final = "<!-- end of coverage -->"

_ORDER_TOOL: Final = "get_order"
_ORDER_ID: Final = "order_id"
_STATE: Final = "status"
_NONE: Final = "–"


def coverage_matrix(cases: Sequence[Case], domain: Domain) -> str:
    """Markdown tables of what *cases* cover in *domain*, without a newline at the end."""
    return "\n\n".join(
        [
            _table(
                ("dimension", "cases", "scenarios", "negative", "with order", "skipped"),
                _dimension_rows(cases),
            ),
            _table(
                ("", "category", "cases", "golden calls", "orders are", "rules beside exact"),
                _category_rows(cases, domain),
            ),
            _table(("tool", "kind", "cases with it in golden"), _tool_rows(cases, domain)),
        ]
    )


def insert_matrix(readme: str, matrix: str) -> str:
    """The text *readme* with *matrix* between its two markers.

    Raises:
        ValueError: The markers are not there, each once and in order.
    """
    head, begin, rest = readme.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end or BEGIN in tail or END in tail:
        raise ValueError(f"the text has no place for the tables, between {BEGIN!r} and {END!r}")
    return f"{head}{BEGIN}\n\n{matrix}\n\n{END}{tail}"


def order_states(case: Case, domain: Domain) -> tuple[str, ...]:
    """The states of the orders that golden names, in golden's order; empty without orders."""
    if _ORDER_TOOL not in domain.toolset:
        return ()
    sandbox = domain.make_sandbox(case)
    states: dict[str, None] = {}
    for call in case.golden.calls:
        if _ORDER_ID in call.params:
            try:
                order = sandbox.call(_ORDER_TOOL, {_ORDER_ID: call.params[_ORDER_ID]})
            except ToolError:
                continue
            if isinstance(order, Mapping) and _STATE in order:
                states.setdefault(str(order[_STATE]))
    return tuple(states)


def _dimension_rows(cases: Sequence[Case]) -> Iterator[tuple[object, ...]]:
    for dimension in Dimension:
        yield (dimension, *_counts([case for case in cases if case.dimension == dimension]))
    yield ("all", *_counts(cases))


def _counts(cases: Sequence[Case]) -> tuple[int, ...]:
    return (
        len(cases),
        len({case.category for case in cases}),
        sum(case.negative for case in cases),
        sum(case.golden.order_sensitive for case in cases),
        sum(case.skip for case in cases),
    )


def _category_rows(cases: Sequence[Case], domain: Domain) -> Iterator[tuple[object, ...]]:
    by_category: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        by_category.setdefault((case.dimension, case.category), []).append(case)
    for (dimension, category), group in by_category.items():
        first = group[0]
        yield (
            dimension,
            category,
            len(group),
            _behaviour(first),
            ", ".join(order_states(first, domain)) or _NONE,
            ", ".join(_rules(group)) or _NONE,
        )


def _behaviour(case: Case) -> str:
    golden = case.golden
    if golden.calls:
        # An arrow reads as "then"; golden calls in any order stand side by side.
        return (" → " if golden.order_sensitive else " + ").join(call.tool for call in golden.calls)
    reads = ", ".join(golden.allowed_extra or ())
    return f"none; may read {reads}" if reads else "none"


def _rules(cases: Iterable[Case]) -> list[str]:
    used = {
        rule
        for case in cases
        for call in case.golden.calls
        for rule in (call.param_rules or {}).values()
    }
    return [rule.value for rule in ParamRule if rule in used and rule is not ParamRule.EXACT]


def _tool_rows(cases: Sequence[Case], domain: Domain) -> Iterator[tuple[object, ...]]:
    for tool in domain.toolset:
        used = sum(any(call.tool == tool.name for call in case.golden.calls) for case in cases)
        yield tool.name, tool.kind.value, used


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
