"""From scores to numbers: the official ones as far as they can be formed, and what explains them.

Everything is counted, nothing is judged here. A share of nothing is None, never 0. Official
aggregates are formed only of subsets that were answered completely: an average over a
part is no BFCL number.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fc_eval.bfcl.adherence import SchemaFault, schema_faults, spelled_defaults
from fc_eval.bfcl.decode import DecodedCall, DecodeError, decode_answer
from fc_eval.bfcl.entries import PIPELINES, SUBSETS, BfclEntry, Rule
from fc_eval.bfcl.match import Naming
from fc_eval.bfcl.predictions import Answer
from fc_eval.bfcl.score import BfclScore, pair_calls
from fc_eval.bfcl.scripts import text_script
from fc_eval.bfcl.tools import tool_name
from fc_eval.records.codec import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """An entry, the answer to it, and its score."""

    entry: BfclEntry
    answer: Answer
    score: BfclScore

    @property
    def naming(self) -> Naming:
        """How functions are named in the answer."""
        return Naming.DOCUMENTED if self.answer.calls is None else Naming.TOOL

    def decoded(self) -> list[DecodedCall] | None:
        """The calls of the answer, None where it can't be decoded."""
        try:
            return decode_answer(self.answer.calls, self.answer.text)
        except DecodeError:
            return None


def build_metrics(scored: Sequence[Scored]) -> dict[str, JsonValue]:
    """All metrics of a run, as plain JSON, for `ReportV1.metrics`.

    - `subsets`: exact match by subset, and whether all of its entries were answered.
    - `pipelines`: exact match over all entries of a pipeline's subsets, and the plain mean of the
      subsets, each once one of them was run; `missing` names the subsets that were not.
    - `official`: the leaderboard's groups; see `official_groups`.
    - `error_types`: how often each official error type occurs.
    - `calls`, `arguments`: see `call_metrics`.
    - `irrelevance`: see `irrelevance_metrics`.
    - `schema`: see `schema_metrics`.
    - `scripts`: exact match of the live subsets by the script of the prompt.
    """
    by_subset = _group(scored, key=lambda item: item.entry.subset)
    subsets = {name: _subset(name, by_subset[name]) for name in SUBSETS if name in by_subset}
    complete = {name: row["accuracy"] for name, row in subsets.items() if row["complete"]}
    errors = Counter(str(item.score.error_type) for item in scored if not item.score.valid)
    live = [item for item in scored if item.entry.subset in PIPELINES["live"]]
    scripts = _group(live, key=lambda item: _script(item.entry))
    return {
        "subsets": subsets,
        "pipelines": {
            name: _pipeline({subset: by_subset.get(subset, []) for subset in members})
            for name, members in PIPELINES.items()
            if any(subset in by_subset for subset in members)
        },
        "official": official_groups(complete),
        "error_types": dict(sorted(errors.items())),
        **call_metrics(scored),
        "irrelevance": irrelevance_metrics(scored),
        "schema": schema_metrics(scored),
        "scripts": {name: _exact_match(scripts[name]) for name in sorted(scripts)},
    }


def official_groups(accuracies: Mapping[str, float]) -> dict[str, JsonValue]:
    """The leaderboard's groups, each with its accuracy and the subsets that it lacks.

    The accuracy is None where a subset is lacking. The leaderboard itself counts such a subset as
    0, which gives a number that looks like one of its own and says something else.

    Args:
        accuracies: The accuracy of each completely answered subset, by its official name.

    Source:
        `eval_runner_helper` of the package bfcl_eval 2026.3.23: v4 weights 10, 10, 10, 30 and 40.
    """
    groups: dict[str, JsonValue] = {}
    for name, group in _GROUPS.items():
        missing = [subset for subset in group.subsets() if subset not in accuracies]
        accuracy = None if missing else group.accuracy(accuracies)
        groups[name] = {"accuracy": accuracy, "missing": missing}
    return groups


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """A weighted mean of subsets (by name) and other groups."""

    parts: tuple[tuple[str | _Group, float], ...]

    @classmethod
    def mean(cls, *parts: str | _Group) -> _Group:
        return cls(parts=tuple((part, 1.0) for part in parts))

    def subsets(self) -> Iterable[str]:
        for part, _ in self.parts:
            yield from [part] if isinstance(part, str) else part.subsets()

    def accuracy(self, accuracies: Mapping[str, float]) -> float:
        values = [
            weight * (accuracies[part] if isinstance(part, str) else part.accuracy(accuracies))
            for part, weight in self.parts
        ]
        return sum(values) / sum(weight for _, weight in self.parts)


_NON_LIVE = _Group.mean(
    _Group.mean("simple_python", "simple_java", "simple_javascript"),
    "multiple",
    "parallel",
    "parallel_multiple",
)
_LIVE = _Group(
    parts=tuple(
        (name, float(SUBSETS[name].size))
        for name in ("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple")
    )
)
_IRRELEVANCE = _Group.mean("irrelevance", "live_irrelevance")
_MULTI_TURN = _Group.mean(
    "multi_turn_base", "multi_turn_miss_func", "multi_turn_miss_param", "multi_turn_long_context"
)
_AGENTIC = _Group.mean(
    _Group.mean("web_search_base", "web_search_no_snippet"),
    _Group.mean("memory_kv", "memory_vector", "memory_rec_sum"),
)
_GROUPS: Mapping[str, _Group] = {
    "non_live": _NON_LIVE,
    "live": _LIVE,
    "irrelevance": _IRRELEVANCE,
    "multi_turn": _MULTI_TURN,
    "agentic": _AGENTIC,
    "overall": _Group(
        parts=(
            (_NON_LIVE, 10.0),
            (_LIVE, 10.0),
            (_IRRELEVANCE, 10.0),
            (_MULTI_TURN, 30.0),
            (_AGENTIC, 40.0),
        )
    ),
}


def call_metrics(scored: Iterable[Scored]) -> dict[str, JsonValue]:
    """Precision and recall over calls, and accuracy over arguments, of the labelled subsets.

    A call is right where it passes a label that no other call serves. Calls that can't be decoded
    were made and are not right. Arguments are judged in calls of the right name: right is one that
    passes its check, wrong one that does not, or that is missing though it is due.
    """
    expected = made = named = right = judged = right_arguments = 0
    for item in scored:
        if not SUBSETS[item.entry.subset].labelled:
            continue
        labels, decoded = item.entry.labels, item.decoded()
        expected += len(labels)
        made += len(item.answer.calls or ()) if decoded is None else len(decoded)
        for pair in pair_calls(labels, decoded or (), item.naming):
            if pair.call is None or not pair.named:
                continue
            arguments = (decoded or ())[pair.call][1]
            faults = {name for name, _ in labels[pair.label].faults(arguments)}
            named += 1
            right += pair.exact
            judged += len(faults | set(arguments))
            right_arguments += len(set(arguments) - faults)
    precision, recall = _share(right, made), _share(right, expected)
    return {
        "calls": {
            "expected": expected,
            "made": made,
            "right_name": named,
            "right": right,
            "precision": precision,
            "recall": recall,
            "f1": _share(2 * right, made + expected),
        },
        "arguments": {
            "judged": judged,
            "right": right_arguments,
            "accuracy": _share(right_arguments, judged),
        },
    }


def irrelevance_metrics(scored: Iterable[Scored]) -> dict[str, JsonValue]:
    """Calls where none is due.

    Officially a call that can't be decoded is no call, so that a model that makes broken calls
    looks restrained. `false_positive_rate` is the official number; `attempt_rate` counts the
    malformed attempts too.
    """
    items = [item for item in scored if item.entry.rule is Rule.IRRELEVANCE]
    wrong = sum(not item.score.valid for item in items)
    malformed = sum(bool(item.answer.calls) and item.decoded() is None for item in items)
    return {
        "entries": len(items),
        "false_positives": wrong,
        "false_positive_rate": _share(wrong, len(items)),
        "malformed_attempts": malformed,
        "attempt_rate": _share(wrong + malformed, len(items)),
    }


def schema_metrics(scored: Iterable[Scored]) -> dict[str, JsonValue]:
    """How well calls fit the documented tools, over all subsets, whether a call was due or not.

    `faults` counts places, `adherent` calls of a documented tool without a fault. `malformed` are
    answers with calls that can't be decoded; their calls are not among `calls`.
    """
    tally = _SchemaTally()
    for item in scored:
        decoded = item.decoded()
        if decoded is None:
            tally.malformed += bool(item.answer.calls)
            continue
        documented = item.naming is Naming.DOCUMENTED
        functions = {
            function["name"] if documented else tool_name(function["name"]): function
            for function in reversed(item.entry.functions)
        }
        for name, arguments in decoded:
            tally.calls += 1
            tally.arguments += len(arguments)
            function = functions.get(name or "")
            if function is None:
                tally.unknown_tools += 1
                continue
            faults = schema_faults(function, arguments)
            tally.faults.update(fault.value for _, fault in faults)
            tally.adherent += not faults
            tally.defaults += len(spelled_defaults(function, arguments))
    return {
        "calls": tally.calls,
        "adherent": tally.adherent,
        "adherence": _share(tally.adherent, tally.calls),
        "unknown_tools": tally.unknown_tools,
        "malformed": tally.malformed,
        "arguments": tally.arguments,
        "faults": {fault.value: tally.faults[fault.value] for fault in SchemaFault},
        "defaults_spelled_out": tally.defaults,
    }


@dataclass(slots=True, kw_only=True)
class _SchemaTally:
    calls: int = 0
    adherent: int = 0
    unknown_tools: int = 0
    malformed: int = 0
    arguments: int = 0
    defaults: int = 0
    faults: Counter[str] = field(default_factory=Counter)


def _subset(name: str, items: Sequence[Scored]) -> dict[str, JsonValue]:
    answered = len({item.entry.id for item in items})
    size = SUBSETS[name].size
    return {**_exact_match(items), "of": size, "complete": answered == size}


def _pipeline(groups: Mapping[str, Sequence[Scored]]) -> dict[str, JsonValue]:
    rows = [_exact_match(items) for items in groups.values() if items]
    pooled = _exact_match([item for items in groups.values() for item in items])
    return {
        **pooled,
        "of": sum(SUBSETS[name].size for name in groups),
        "missing": [name for name, items in groups.items() if not items],
        "mean_of_subsets": _share(sum(row["accuracy"] for row in rows), len(rows)),
    }


def _exact_match(items: Sequence[Scored]) -> dict[str, JsonValue]:
    valid = sum(item.score.valid for item in items)
    return {"entries": len(items), "valid": valid, "accuracy": _share(valid, len(items))}


def _script(entry: BfclEntry) -> str:
    messages = (message for turn in entry.question for message in turn)
    return text_script(message["content"] for message in messages if message["role"] == "user")


def _group(scored: Iterable[Scored], *, key: Callable[[Scored], str]) -> dict[str, list[Scored]]:
    groups: dict[str, list[Scored]] = defaultdict(list)
    for item in scored:
        groups[key(item)].append(item)
    return groups


def _share(part: float, whole: int) -> float | None:
    return part / whole if whole else None
