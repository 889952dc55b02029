"""The entries of BFCL v4, single turn: which subsets there are, and what one entry asks for.

Here data and label lines become `BfclEntry` records. Where the data lies is asked in `data`,
how an entry is scored in `score`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar

from fc_eval.bfcl.data import FETCH_HINT, data_folder, find_data
from fc_eval.bfcl.match import CallLabel, compile_label
from fc_eval.errors import ConfigError
from fc_eval.records.codec import JsonValue, digest


class Rule(Enum):
    """How the calls of an answer are held against the labels of its entry."""

    SIMPLE = "one call of the one tool"
    MULTIPLE = "one call, of the right one among several tools"
    PARALLEL = "as many calls as labels, in any order"
    IRRELEVANCE = "no call"
    RELEVANCE = "a call, whichever"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subset:
    """One test category: its name, its rule, and how many entries the shipped data has."""

    name: str
    rule: Rule
    size: int

    @property
    def labelled(self) -> bool:
        """Whether there is a file of allowed answers."""
        return self.rule not in (Rule.IRRELEVANCE, Rule.RELEVANCE)


SUBSETS: Mapping[str, Subset] = {
    name: Subset(name=name, rule=rule, size=size)
    for name, rule, size in (
        ("simple_python", Rule.SIMPLE, 400),
        ("multiple", Rule.MULTIPLE, 200),
        ("parallel", Rule.PARALLEL, 200),
        ("parallel_multiple", Rule.PARALLEL, 200),
        ("irrelevance", Rule.IRRELEVANCE, 240),
        ("live_simple", Rule.SIMPLE, 258),
        ("live_multiple", Rule.MULTIPLE, 1053),
        ("live_parallel", Rule.PARALLEL, 16),
        ("live_parallel_multiple", Rule.PARALLEL, 24),
        ("live_relevance", Rule.RELEVANCE, 16),
        ("live_irrelevance", Rule.IRRELEVANCE, 884),
    )
}

_OFFLINE = ("simple_python", "multiple", "parallel", "parallel_multiple", "irrelevance")

PIPELINES: Mapping[str, tuple[str, ...]] = {
    "offline": _OFFLINE,
    "production": (*_OFFLINE, "live_simple", "live_multiple", "live_parallel"),
    "live": tuple(name for name in SUBSETS if name.startswith("live_")),
}
"""Subsets that are run together: `offline` written for the benchmark, `live` sent in by users,
`production` the first and the larger ones of the second that ask for calls."""


@dataclass(frozen=True, kw_only=True, eq=False)
class BfclEntry:
    """One entry: what is asked, with which tools, and which calls are allowed.

    `question` holds turns, each a list of messages; single-turn entries have one. `functions` are
    as documented, with dotted names and BFCL's own types. `ground_truth` has one object
    `{function name: {parameter: [allowed, ...]}}` per expected call, and is None where the
    subset has no labels. An entry is a case without dimension, whose category is its subset.

    Not slotted, so that the compiled labels can be kept with the entry they belong to.
    """

    id: str
    subset: str
    question: Sequence[Sequence[Mapping[str, str]]]
    functions: Sequence[Mapping[str, Any]]
    ground_truth: Sequence[Mapping[str, Mapping[str, Sequence[JsonValue]]]] | None = None

    dimension: ClassVar[None] = None
    skip: ClassVar[bool] = False
    skip_reason: ClassVar[None] = None

    @property
    def category(self) -> str:
        """The subset."""
        return self.subset

    @cached_property
    def instruction(self) -> str:
        """What the user says, for a reader; what a model is sent is `question`."""
        messages = (message for turn in self.question for message in turn)
        return "\n".join(item["content"] for item in messages if item["role"] == "user")

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all that the entry says; it changes when any of it does."""
        return digest(
            [self.id, self.subset, self.question, self.functions, self.ground_truth],
        )

    @cached_property
    def rule(self) -> Rule:
        """How this entry is scored."""
        return SUBSETS[self.subset].rule

    @cached_property
    def labels(self) -> tuple[CallLabel, ...]:
        """The expected calls, ready to be compared; compiled on first use.

        A simple entry is checked against its one tool, whatever name the label has.
        """
        by_name = {function["name"]: function for function in reversed(self.functions)}
        compiled = []
        for label in self.ground_truth or ():
            ((name, allowed),) = label.items()
            function = self.functions[0] if self.rule is Rule.SIMPLE else by_name[name]
            compiled.append(compile_label(function, allowed))
        return tuple(compiled)


def subsets_of(names: Sequence[str]) -> tuple[str, ...]:
    """The subsets that names of subsets and pipelines stand for, each once, in order.

    Raises:
        ConfigError: A name is neither.
    """
    found: dict[str, None] = {}
    for name in names:
        if name not in PIPELINES and name not in SUBSETS:
            raise ConfigError(
                f"BFCL has no subset and no pipeline {name!r} here",
                fix=f"use one of: {', '.join((*PIPELINES, *SUBSETS))}",
            )
        found.update(dict.fromkeys(PIPELINES.get(name, (name,))))
    return tuple(found)


def load_entries(subset: str, data: str | os.PathLike[str] | None = None) -> list[BfclEntry]:
    """The entries of a subset, in the order of the file; read once per process.

    Args:
        subset: A name of `SUBSETS`.
        data: The unpacked package folder `bfcl_eval`, or its `data` folder; searched for as
            `data.find_data` does where it is None.

    Raises:
        ConfigError: There is no such subset, no data, or the data is not as shipped.
    """
    if subset not in SUBSETS:
        raise ConfigError(
            f"BFCL has no subset {subset!r} here", fix=f"use one of: {', '.join(SUBSETS)}"
        )
    folder = find_data(os.environ) if data is None else data_folder(Path(data))
    return list(_load(subset, folder.resolve()))


@cache
def _load(subset: str, folder: Path) -> tuple[BfclEntry, ...]:
    file_name = f"BFCL_v4_{subset}.json"
    lines = _read_lines(folder / file_name)
    labels: Sequence[Mapping[str, Any] | None] = [None] * len(lines)
    if SUBSETS[subset].labelled:
        labels = _read_labels(folder / "possible_answer" / file_name, lines)
    try:
        return tuple(
            BfclEntry(
                id=line["id"],
                subset=subset,
                question=line["question"],
                functions=line["function"],
                ground_truth=None if label is None else label["ground_truth"],
            )
            for line, label in zip(lines, labels, strict=True)
        )
    except KeyError as error:
        raise ConfigError(
            f"an entry has no field {error}", path=folder / file_name, fix=FETCH_HINT
        ) from None


def _read_labels(path: Path, lines: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """The labels, paired with the entries by position and checked by id."""
    labels = _read_lines(path)
    if len(labels) != len(lines):
        raise ConfigError(
            f"{len(labels)} labels for {len(lines)} entries", path=path, fix=FETCH_HINT
        )
    for number, (line, label) in enumerate(zip(lines, labels, strict=True), start=1):
        if line["id"] != label["id"]:
            raise ConfigError(
                f"label {label['id']!r} stands where entry {line['id']!r} is",
                path=path,
                line=number,
                fix=FETCH_HINT,
            )
    return labels


def _read_lines(path: Path) -> list[dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"can't read the BFCL data: {error.strerror}", path=path, fix=FETCH_HINT
        ) from None
    lines: list[dict[str, Any]] = []
    seen: set[str] = set()
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            name = entry["id"]
        except (ValueError, TypeError, KeyError):
            raise ConfigError(
                "not a BFCL line: an object with an id", path=path, line=number, fix=FETCH_HINT
            ) from None
        if name in seen:
            raise ConfigError(f"{name!r} occurs twice", path=path, line=number, fix=FETCH_HINT)
        seen.add(name)
        lines.append(entry)
    return lines
