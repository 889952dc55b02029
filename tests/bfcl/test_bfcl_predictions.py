from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fc_eval.agent.profile import ToolMode
from fc_eval.bfcl.predictions import Answer, read_predictions
from fc_eval.errors import ConfigError
from tests.bfcl.support import write_lines

CALL = {"name": "f", "arguments": '{"a": 1}'}


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        pytest.param({"calls": [CALL]}, Answer(calls=(CALL,)), id="calls"),
        pytest.param({"calls": []}, Answer(calls=()), id="no-calls"),
        pytest.param({"calls": [], "text": "No."}, Answer(calls=(), text="No."), id="a-message"),
        pytest.param({"text": "[f(a=1)]"}, Answer(calls=None, text="[f(a=1)]"), id="prompt-mode"),
        pytest.param({"result": [{"f": '{"a": 1}'}]}, Answer(calls=(CALL,)), id="official-calls"),
        pytest.param(
            {"result": [{}, "x"]},
            Answer(calls=({"name": None, "arguments": ""},) * 2),
            id="official-calls-that-can-not-be-decoded",
        ),
        pytest.param(
            {"result": "[f(a=1)]"}, Answer(calls=None, text="[f(a=1)]"), id="official-prompt-mode"
        ),
    ],
)
def test_a_line_is_read(tmp_path: Path, line: dict[str, Any], answer: Answer) -> None:
    path = write_lines(tmp_path / "answers.jsonl", [{"id": "x_0", **line}])

    assert read_predictions(path) == {"x_0": answer}


def test_one_list_among_official_results_says_how_texts_are_meant(tmp_path: Path) -> None:
    lines = [{"id": "x_0", "result": [{"f": "{}"}]}, {"id": "x_1", "result": "I can't."}]
    path = write_lines(tmp_path / "results.json", lines)

    assert read_predictions(path)["x_1"] == Answer(calls=(), text="I can't.")
    assert read_predictions(path, mode=ToolMode.PROMPT)["x_1"] == Answer(
        calls=None, text="I can't."
    )


def test_a_folder_is_searched_for_results_of_single_turn_subsets(tmp_path: Path) -> None:
    results = {"simple_python": "x_0", "live_simple": "x_1", "multi_turn_base": "x_2"}
    for subset, name in results.items():
        line = {"id": name, "result": []}
        write_lines(tmp_path / "group" / f"BFCL_v4_{subset}_result.json", [line])

    assert set(read_predictions(tmp_path)) == {"x_0", "x_1"}


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        pytest.param([{"calls": []}], "1: the line has no id", id="no-id"),
        pytest.param([{"id": "x"}], "1: the line has neither", id="no-answer"),
        pytest.param([{"id": "x", "calls": [{"name": "f"}]}], "1: the calls are no", id="no-call"),
        pytest.param([{"id": "x", "text": 5}], "1: the line has neither", id="no-text"),
        pytest.param([[]], "1: the line is no object", id="no-object"),
        pytest.param(
            [{"id": "x", "text": ""}, {"id": "x", "text": ""}], "2: 'x' occurs twice", id="twice"
        ),
    ],
)
def test_a_line_of_another_form_is_told(tmp_path: Path, lines: list[Any], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        read_predictions(write_lines(tmp_path / "answers.jsonl", lines))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("{", "1: the line is no JSON", id="no-json"),
        pytest.param(None, "can't read", id="no-file"),
    ],
)
def test_a_file_that_can_not_be_read_is_told(
    tmp_path: Path, text: str | None, problem: str
) -> None:
    path = tmp_path / "answers.jsonl"
    if text is not None:
        path.write_text(text, encoding="utf-8")

    with pytest.raises(ConfigError, match=problem):
        read_predictions(path)


def test_a_folder_without_results_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no result files"):
        read_predictions(tmp_path)
