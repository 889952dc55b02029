"""Small entries and data folders, written in the form of BFCL."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fc_eval.bfcl.entries import SUBSETS, BfclEntry

Label = Mapping[str, Mapping[str, list[Any]]]


def function(
    name: str, properties: Mapping[str, Any], required: Iterable[str] = ()
) -> dict[str, Any]:
    """A documented function."""
    parameters = {"type": "dict", "properties": properties, "required": list(required)}
    return {"name": name, "description": f"Does {name}.", "parameters": parameters}


def entry(
    subset: str,
    functions: Iterable[Mapping[str, Any]],
    labels: Iterable[Label] = (),
    *,
    question: str = "What now?",
) -> BfclEntry:
    """An entry of a subset; *labels* count only where the subset has some."""
    return BfclEntry(
        id=f"{subset}_0",
        subset=subset,
        question=[[{"role": "user", "content": question}]],
        functions=list(functions),
        ground_truth=list(labels) if SUBSETS[subset].labelled else None,
    )


def call(name: str, /, **arguments: Any) -> dict[str, Any]:
    """A call over a tools API, its arguments as text."""
    return {"name": name, "arguments": json.dumps(arguments)}


def write_lines(path: Path, lines: Iterable[object]) -> Path:
    """A JSONL file, without a newline at its end, as some of the shipped ones are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path
