"""The metrics of a benchmark → lines of the terminal summary.

Reads the plain JSON of `ReportV1.metrics`, and asks no more than what stands there: a stored report
of an older version may lack a figure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fc_eval.records.codec import JsonValue

HEAD = ("exact match", "valid", "answered", "accuracy")


def benchmark_rows(metrics: Mapping[str, JsonValue]) -> Iterator[Sequence[str]]:
    """Exact match by subset, and by each pipeline whose subsets were all run."""
    yield HEAD
    for name, row in metrics.get("subsets", {}).items():
        yield _row(name, row)
    for name, row in metrics.get("pipelines", {}).items():
        if not row["missing"]:
            yield _row(f"pipeline {name}", row)


def _row(name: str, row: Mapping[str, JsonValue]) -> Sequence[str]:
    answered = f"{row['entries']} of {row['of']}"
    return name, str(row["valid"]), answered, _percent(row["accuracy"])


def benchmark_notes(metrics: Mapping[str, JsonValue]) -> Iterator[str]:
    """The official aggregates that can be formed, calls, irrelevance and schema adherence."""
    formed = {
        name: group["accuracy"]
        for name, group in metrics.get("official", {}).items()
        if group["accuracy"] is not None
    }
    if formed:
        shown = ", ".join(f"{name} {_percent(value)}" for name, value in formed.items())
        yield f"official aggregates: {shown}"
    else:
        yield "official aggregates: none, each needs subsets that were not run to their end"
    calls, arguments = metrics.get("calls"), metrics.get("arguments")
    if calls and calls["expected"]:
        yield (
            f"calls: precision {_percent(calls['precision'])}, recall {_percent(calls['recall'])} "
            f"({calls['right']} right of {calls['made']} made, {calls['expected']} expected)"
        )
    if arguments and arguments["judged"]:
        yield (
            f"arguments of rightly named calls: {_percent(arguments['accuracy'])} right "
            f"({arguments['right']} of {arguments['judged']})"
        )
    irrelevance = metrics.get("irrelevance")
    if irrelevance and irrelevance["entries"]:
        yield (
            f"irrelevance: {irrelevance['false_positives']} false positives in "
            f"{irrelevance['entries']} entries ({_percent(irrelevance['false_positive_rate'])}); "
            f"with {irrelevance['malformed_attempts']} malformed attempts "
            f"{_percent(irrelevance['attempt_rate'])}"
        )
    schema = metrics.get("schema")
    if schema and schema["calls"]:
        yield (
            f"schema: {_percent(schema['adherence'])} of {schema['calls']} calls fit their "
            "documented tool"
        )
    scripts = metrics.get("scripts")
    if scripts:
        by_script = ", ".join(
            f"{name} {_percent(row['accuracy'])} of {row['entries']}"
            for name, row in scripts.items()
        )
        yield f"live prompts by script: {by_script}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"
