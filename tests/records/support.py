"""The JSON Schema of an artifact, derived from its record.

The package ships the schemas as files, since editors and other languages read those. They are
written by `python -m tests.records.support` and a test holds them against the records.
"""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

from fc_eval.journal import JournalHeader
from fc_eval.records.baseline import BaselineV1, ConsistencyV1, ReviewV1
from fc_eval.records.report import ReportV1
from fc_eval.records.run import RawRunV1, Trace

ARTIFACTS: dict[str, type] = {
    "RawRunV1": RawRunV1,
    "TraceV1": Trace,
    "JournalV1": JournalHeader,
    "ReportV1": ReportV1,
    "BaselineV1": BaselineV1,
    "ReviewV1": ReviewV1,
    "ConsistencyV1": ConsistencyV1,
}

# What types cannot say.
COUNTED_FROM = {
    ("Trace", "repeat"): 1,
    ("Trace", "steps"): 0,
    ("RawRunV1", "repeats"): 1,
    ("JournalHeader", "repeats"): 1,
    ("ReportV1", "repeats"): 1,
    ("CaseResult", "repeat"): 1,
    ("Selection", "suite_size"): 0,
    ("Call", "index"): 0,
}
# The record reads a trace without calls, so that tests and users can write short ones. In a file
# their absence is damage.
ALSO_REQUIRED = {"Trace": ["calls"], "ReportV1": ["metrics", "review", "baseline_comparison"]}
# People write in a review: there a misspelt field is a slip, elsewhere it may be a later version's.
CLOSED = ("ReviewV1", "ReviewEntry")


def derive_schema(name: str) -> dict[str, Any]:
    """The schema of the artifact *name*."""
    raw = msgspec.json.schema(ARTIFACTS[name])
    defs = {key: _tidy(key, value) for key, value in sorted(raw["$defs"].items())}
    top = raw["$ref"].rpartition("/")[2]
    if "schema" in defs[top]["properties"]:
        defs[top]["properties"]["schema"] = {"const": name}
        defs[top]["required"] = ["schema", *defs[top]["required"]]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:pytest-fc-eval:{name}",
        "$ref": raw["$ref"],
        "$defs": defs,
    }


def _tidy(name: str, definition: dict[str, Any]) -> dict[str, Any]:
    definition = {key: value for key, value in definition.items() if key != "title"}
    if "description" in definition:
        definition["description"] = " ".join(definition["description"].split("\n\n")[0].split())
    if "properties" in definition:
        definition["properties"] = {
            key: _plain(value) for key, value in definition["properties"].items()
        }
        for (owner, key), least in COUNTED_FROM.items():
            if owner == name:
                definition["properties"][key]["minimum"] = least
        definition["required"] = [*definition["required"], *ALSO_REQUIRED.get(name, [])]
        if name in CLOSED:
            definition["additionalProperties"] = False
    return definition


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without default, and `null` as a type among types."""
    schema = {key: value for key, value in schema.items() if key != "default"}
    options = schema.get("anyOf")
    if options and all(set(option) == {"type"} for option in options):
        return {"type": [option["type"] for option in options]}
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            schema[key] = _plain(schema[key])
    return schema


def render_schema(name: str) -> str:
    """The text of the schema's file."""
    return json.dumps(derive_schema(name), indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Write all schemas into the source tree."""
    folder = Path(str(resources.files("fc_eval.records").joinpath("schemas")))
    for name in ARTIFACTS:
        folder.joinpath(f"{name}.json").write_text(render_schema(name), encoding="utf-8")


if __name__ == "__main__":
    main()
