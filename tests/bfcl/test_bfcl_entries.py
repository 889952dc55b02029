from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fc_eval.bfcl.entries import PIPELINES, SUBSETS, load_entries, subsets_of
from fc_eval.errors import ConfigError
from tests.bfcl.support import function, write_lines

QUESTION = [[{"role": "user", "content": "Hi"}]]


def line(name: str) -> dict[str, Any]:
    return {"id": name, "question": QUESTION, "function": [function("f", {})]}


def label(name: str) -> dict[str, Any]:
    return {"id": name, "ground_truth": [{"f": {}}]}


def folder(root: Path, lines: list[Any], labels: list[Any] | None) -> Path:
    write_lines(root / "BFCL_v4_simple_python.json", [])
    write_lines(root / "BFCL_v4_parallel.json", lines)
    if labels is not None:
        write_lines(root / "possible_answer" / "BFCL_v4_parallel.json", labels)
    return root


def test_entries_are_paired_with_their_labels(tmp_path: Path) -> None:
    data = folder(tmp_path, [line("p_0"), line("p_1")], [label("p_0"), label("p_1")])

    entries = load_entries("parallel", data)

    assert [entry.id for entry in entries] == ["p_0", "p_1"]
    assert entries[0].question == QUESTION
    assert entries[0].ground_truth == [{"f": {}}]
    assert entries[0].labels[0].name == "f"
    assert load_entries("parallel", data)[0] is entries[0]


def test_a_subset_without_labels_needs_no_file_of_them(tmp_path: Path) -> None:
    data = folder(tmp_path, [], None)
    write_lines(data / "BFCL_v4_irrelevance.json", [line("i_0")])

    (entry,) = load_entries("irrelevance", data)

    assert entry.ground_truth is None
    assert entry.labels == ()


@pytest.mark.parametrize(
    ("lines", "labels", "problem"),
    [
        pytest.param([line("p_0")], None, "can't read", id="the-labels-are-missing"),
        pytest.param([line("p_0")], [], "0 labels for 1", id="a-label-is-missing"),
        pytest.param([line("p_0")], [label("p_1")], r"json:1: label 'p_1'", id="another-label"),
        pytest.param([line("p"), line("p")], [], r"json:2: 'p' occurs twice", id="an-id-twice"),
        pytest.param(["text"], [], r"json:1: not a BFCL line", id="a-line-is-no-object"),
        pytest.param([{}], [], r"json:1: not a BFCL line", id="a-line-has-no-id"),
    ],
)
def test_data_that_is_not_as_shipped_is_told(
    tmp_path: Path, lines: list[Any], labels: list[Any] | None, problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem):
        load_entries("parallel", folder(tmp_path, lines, labels))


def test_an_unknown_subset_is_told_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="simple_python"):
        load_entries("simple", tmp_path)


def test_names_of_subsets_and_pipelines_are_resolved_once_each() -> None:
    assert subsets_of(["irrelevance", "production", "parallel"]) == (
        "irrelevance",
        "simple_python",
        "multiple",
        "parallel",
        "parallel_multiple",
        "live_simple",
        "live_multiple",
        "live_parallel",
    )
    with pytest.raises(ConfigError, match="no pipeline 'sometimes'"):
        subsets_of(["sometimes"])


def test_every_subset_is_in_a_pipeline() -> None:
    assert {name for names in PIPELINES.values() for name in names} == set(SUBSETS)


def test_the_shipped_data_is_whole(all_entries: list[Any]) -> None:
    for name, subset in SUBSETS.items():
        assert sum(entry.subset == name for entry in all_entries) == subset.size
    assert all(len(entry.labels) == len(entry.ground_truth or ()) for entry in all_entries)
