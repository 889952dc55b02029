"""BFCL entries as pytest items: collected, asked, scored, replayed, gated."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fc_eval.bfcl.data import cache_folder, find_data
from fc_eval.errors import ConfigError
from tests.bfcl.support import call, write_lines
from tests.bfcl.test_bfcl_prompt import TEXTS
from tests.plugin.bfcl_support import (
    MALFORMED,
    RIGHT,
    WRONG,
    entry,
    says,
    told_model,
    write_data,
)
from tests.plugin.support import RIGHT as RIGHT_CASE
from tests.plugin.support import last_run, read_json, weather

ENVIRON = {**os.environ, "FC_BFCL_CACHE": str(cache_folder(os.environ))}
"""As it is before pytester gives each test a home of its own, in which no cache lies."""


WORKERS = pytest.mark.parametrize("workers", ["0", "2"], ids=["one-process", "two-workers"])
SUBSETS = "simple_python,parallel,irrelevance"
NODES = [
    *(f"bfcl/BFCL_v4_simple_python.json::simple_python_{number}" for number in range(3)),
    *(f"bfcl/BFCL_v4_parallel.json::parallel_{number}" for number in range(2)),
    *(f"bfcl/BFCL_v4_irrelevance.json::irrelevance_{number}" for number in range(2)),
]
CODES = {
    "simple_python_0": None,
    "simple_python_1": "value_error:others",
    "simple_python_2": "ast_decoder:decoder_failed",
    "parallel_0": None,
    "parallel_1": "ast_decoder:decoder_failed",
    "irrelevance_0": None,
    "irrelevance_1": "irrelevance_error:decoder_success",
}


@pytest.fixture
def data(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    package = write_data(pytester.path / "elsewhere")
    monkeypatch.setenv("FC_BFCL_DATA", str(package))
    return package


@pytest.fixture
def requests(pytester: pytest.Pytester, data: Path) -> Iterator[list[dict[str, Any]]]:
    with told_model() as (url, requests):
        write_project(pytester, url)
        yield requests


def write_project(pytester: pytest.Pytester, url: str, **fields: str) -> None:
    lines = "".join(f'{name} = "{value}"\n' for name, value in fields.items())
    pytester.makepyprojecttoml(
        '[tool.fc_eval]\nmodel = "told"\n'
        f'[tool.fc_eval.models.told]\nslug = "told"\nbase_url = "{url}"\n{lines}'
    )


def codes(root: Path) -> dict[str, str | None]:
    report = read_json(last_run(root) / "report.json")
    return {result["case_id"]: result["taxonomy"] for result in report["results"]}


def predict(pytester: pytest.Pytester, *lines: object) -> Path:
    return write_lines(pytester.path / "answers.jsonl", lines)


@pytest.mark.usefixtures("requests")
@WORKERS
def test_entries_are_items(pytester: pytest.Pytester, workers: str) -> None:
    result = pytester.runpytest_subprocess("--fc-eval", "--fc-bfcl", SUBSETS, "-n", workers)

    result.assert_outcomes(passed=3, failed=4)
    assert codes(pytester.path) == CODES
    result.stdout.fnmatch_lines(
        [
            "FAIL bfcl/BFCL_v4_simple_python.json:2 simple_python_1: value_error:others",
            "3 of 7 cases pass*",
            "simple_python *1*3 of 400*33.3 %",
            "irrelevance *1*2 of 240*50.0 %",
            "irrelevance: 1 false positives in 2 entries (50.0 %)*",
            "gate=failed 4 cases FAIL",
            "eval_fc=passed",
        ]
    )


@pytest.mark.usefixtures("requests")
def test_workers_change_nothing(pytester: pytest.Pytester) -> None:
    reports = []
    for workers in ("0", "2"):
        pytester.runpytest_subprocess("--fc-eval", "--fc-bfcl", SUBSETS, "-n", workers)
        folder = last_run(pytester.path)
        reports.append(read_json(folder / "report.json"))
        shutil.rmtree(folder)

    alone, together = reports
    assert alone["results"] == together["results"]
    assert alone["metrics"] == together["metrics"]
    assert alone["input_hashes"] == together["input_hashes"]


def test_an_entry_is_asked_once_with_its_own_tools(
    pytester: pytest.Pytester, requests: list[dict[str, Any]]
) -> None:
    pytester.runpytest("--fc-eval", "--fc-bfcl", SUBSETS, "-k", "simple_python_0")

    (body,) = requests
    assert body["messages"] == [{"role": "user", "content": says(RIGHT)}]
    (tool,) = body["tools"]
    assert tool["function"]["name"] == "shape_area"
    report = read_json(last_run(pytester.path) / "report.json")
    (result,) = report["results"]
    assert result["dimension"] is None
    assert result["category"] == "simple_python"
    assert result["golden"]["calls"] == [
        {"tool": "shape_area", "allowed": {"base": [10], "unit": ["cm", ""]}}
    ]
    hashes = report["input_hashes"]
    assert [name for name, value in hashes.items() if value is None] == [
        "database",
        "policy",
        "system_prompt",
    ]


@pytest.mark.parametrize(
    ("arguments", "chosen"),
    [
        pytest.param([], NODES, id="all"),
        pytest.param(["-k", "parallel_1"], NODES[4:5], id="by-id"),
        pytest.param(["-m", "parallel"], NODES[3:5], id="by-subset"),
        pytest.param(["-m", "offline and not irrelevance"], NODES[:5], id="by-pipeline"),
        pytest.param(["-m", "live"], [], id="by-a-pipeline-that-was-not-named"),
        pytest.param(["-m", "fc(id='irrelevance_0')"], NODES[5:6], id="by-field-id"),
        pytest.param(["-m", "fc(subset='parallel')"], NODES[3:5], id="by-field-subset"),
    ],
)
@pytest.mark.usefixtures("requests")
def test_selection(pytester: pytest.Pytester, arguments: list[str], chosen: list[str]) -> None:
    result = pytester.runpytest(
        "--fc-bfcl", SUBSETS, "--collect-only", "-q", "--strict-markers", *arguments
    )

    assert [line for line in result.outlines if "::" in line] == chosen


@pytest.mark.usefixtures("requests")
def test_no_test_of_the_project_is_collected(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_nothing(): pass")

    result = pytester.runpytest("--fc-eval", "--fc-bfcl", "irrelevance", "--collect-only", "-q")

    assert [line for line in result.outlines if "::" in line] == NODES[5:]


@pytest.mark.usefixtures("requests")
def test_a_fail_shows_what_is_allowed(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest("--fc-eval", "--fc-bfcl", "simple_python", "-k", "simple_python_1")

    result.stdout.fnmatch_lines(
        [
            "FAIL value_error:others",
            "calls?0? shape_area *│ actual?0? shape_area",
            "  base: 10 *│   base: 11",
            " ≠ value_error:others calls?0?.base: none of the allowed values",
            "bfcl/BFCL_v4_simple_python.json:2: FAIL value_error:others",
        ]
    )


@pytest.mark.usefixtures("requests")
def test_last_failed_are_known_by_their_ids(pytester: pytest.Pytester) -> None:
    pytester.runpytest("--fc-eval", "--fc-bfcl", SUBSETS)

    result = pytester.runpytest("--fc-eval", "--fc-bfcl", SUBSETS, "--lf", "--nf")

    result.assert_outcomes(failed=4, deselected=3)


@pytest.mark.usefixtures("requests")
def test_hooks_of_the_root_conftest_hold_for_entries(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        import pytest

        def pytest_runtest_setup(item):
            pytest.skip("not today")
        """
    )
    pytester.mkdir("tests")
    pytester.path.joinpath("tests", "conftest.py").write_text(
        "def pytest_runtest_setup(item):\n    raise RuntimeError('not here')\n", encoding="utf-8"
    )

    result = pytester.runpytest("--fc-eval", "--fc-bfcl", "irrelevance", "-o", "testpaths=tests")

    result.assert_outcomes(skipped=2)


@pytest.mark.usefixtures("requests")
def test_repeats(pytester: pytest.Pytester) -> None:
    pytester.runpytest("--fc-eval", "--fc-bfcl", "irrelevance", "--fc-repeat", "2")

    report = read_json(last_run(pytester.path) / "report.json")
    assert len(report["results"]) == 4
    assert report["summary"]["accuracy"] == 0.5


def test_a_replay_asks_nobody(pytester: pytest.Pytester, requests: list[dict[str, Any]]) -> None:
    pytester.runpytest("--fc-eval", "--fc-bfcl", SUBSETS)
    run = last_run(pytester.path)
    asked = len(requests)

    result = pytester.runpytest("--fc-eval", "--fc-bfcl", SUBSETS, "--fc-replay", str(run))

    result.assert_outcomes(passed=3, failed=4)
    result.stdout.fnmatch_lines(["replay: every verdict is as the run's own report has it"])
    assert len(requests) == asked


def test_an_interrupted_run_is_resumed(
    pytester: pytest.Pytester, requests: list[dict[str, Any]]
) -> None:
    pytester.runpytest("--fc-eval", "--fc-bfcl", SUBSETS, "-x", "--fc-concurrency", "1")
    run = last_run(pytester.path)
    asked = len(requests)

    result = pytester.runpytest("--fc-eval", "--fc-bfcl", SUBSETS, "--fc-resume", str(run))

    result.assert_outcomes(passed=3, failed=4)
    assert asked == 2
    assert len(requests) == 7


@pytest.mark.usefixtures("requests")
def test_a_baseline_of_its_own_gates(pytester: pytest.Pytester) -> None:
    lock = ("--fc-bfcl", "parallel", "--fc-lock-baseline")
    folder = pytester.path / "baselines" / "bfcl-parallel"
    pytester.runpytest(*lock)
    review = read_json(folder / "review.json")
    for item in review["entries"]:
        item |= {"decision": "model_fault", "note": "it wrote no JSON"}
    (folder / "review.json").write_text(json.dumps(review), encoding="utf-8")
    locked = pytester.runpytest(*lock)

    result = pytester.runpytest("--fc-eval", "--fc-bfcl", "parallel")

    locked.stdout.fnmatch_lines(["baseline=baselines/bfcl-parallel/baseline.json *"])
    result.assert_outcomes(passed=1, xfailed=1)
    result.stdout.fnmatch_lines(["against baseline *: 50.0 % now, 50.0 % there", "gate=passed"])


@pytest.mark.usefixtures("data")
def test_prompt_mode_is_read_as_python(pytester: pytest.Pytester, data: Path) -> None:
    (data / "constants").mkdir()
    (data / "constants" / "default_prompts.py").write_text(TEXTS, encoding="utf-8")
    texts = ["[shape.area(base=10)]", "[shape_area(base=10)]", "I can't."]
    lines = [
        entry(f"simple_python_{number}", says(content=text)) for number, text in enumerate(texts)
    ]
    write_lines(data / "data" / "BFCL_v4_simple_python.json", lines)
    with told_model() as (url, requests):
        write_project(pytester, url, tool_mode="prompt", prompt_format="bfcl")
        pytester.runpytest("--fc-eval", "--fc-bfcl", "simple_python")

    assert codes(pytester.path) == {
        "simple_python_0": None,
        "simple_python_1": "simple_function_checker:wrong_func_name",
        "simple_python_2": "ast_decoder:decoder_failed",
    }
    assert all("tools" not in body for body in requests)
    assert "shape.area" in requests[0]["messages"][0]["content"]


@pytest.mark.usefixtures("data")
def test_prompt_mode_without_its_texts_is_a_usage_error(pytester: pytest.Pytester) -> None:
    write_project(pytester, "http://127.0.0.1:1/v1", tool_mode="prompt", prompt_format="bfcl")

    result = pytester.runpytest("--fc-eval", "--fc-bfcl", "simple_python")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*prompt texts of BFCL*"])


def test_cases_have_no_such_prompt_mode(pytester: pytest.Pytester) -> None:
    weather(pytester, RIGHT_CASE)
    conftest = pytester.path / "conftest.py"
    text = conftest.read_text(encoding="utf-8").replace("def fc_agent", "def unused_agent")
    conftest.write_text(text, encoding="utf-8")
    write_project(pytester, "http://127.0.0.1:1/v1", tool_mode="prompt", prompt_format="bfcl")

    result = pytester.runpytest("--fc-eval")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*prompt_format 'bfcl' of model 'told'*"])


@pytest.mark.usefixtures("data")
def test_an_agent_of_the_projects_own(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        import json

        import pytest

        @pytest.fixture(scope="session")
        def fc_agent():
            def act(task):
                for call in json.loads(task.instruction).get("tool_calls", ()):
                    function = call["function"]
                    result = task.call(function["name"], function["arguments"])
                    assert result == {"status": "recorded"} or "error" in result
            return act
        """
    )

    pytester.runpytest("--fc-eval", "--fc-bfcl", SUBSETS)

    assert codes(pytester.path) == CODES


ANSWERS = [
    {"id": "simple_python_0", "calls": [RIGHT]},
    {"id": "simple_python_1", "calls": [WRONG]},
    {"id": "simple_python_2", "calls": [MALFORMED]},
    {"id": "parallel_0", "calls": [{"name": "shape_area", "arguments": {"base": 10}}] * 2},
    {"id": "parallel_1", "calls": [RIGHT, MALFORMED]},
    {"id": "irrelevance_0", "calls": [], "text": "No idea."},
    {"id": "irrelevance_1", "calls": [WRONG]},
]


@pytest.mark.usefixtures("data")
@WORKERS
def test_predictions_need_no_model(pytester: pytest.Pytester, workers: str) -> None:
    path = predict(pytester, *ANSWERS)

    result = pytester.runpytest_subprocess(
        "--fc-eval", "--fc-bfcl", SUBSETS, "--fc-predictions", str(path), "-n", workers
    )

    result.assert_outcomes(passed=3, failed=4)
    assert codes(pytester.path) == CODES
    report = read_json(last_run(pytester.path) / "report.json")
    assert report["model"]["slug"] == "predictions/answers"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        pytest.param({"calls": [call("shape_area", base=10, unit="CM")]}, None, id="as-text"),
        pytest.param({"text": "[shape.area(base=10)]"}, None, id="in-prompt-mode"),
        pytest.param(
            {"text": "[shape_area(base=10)]"},
            "simple_function_checker:wrong_func_name",
            id="the-tools-name-in-prompt-mode",
        ),
        pytest.param(
            {"calls": [], "text": "[shape.area(base=10)]"},
            "ast_decoder:decoder_failed",
            id="a-text-over-a-tools-api-is-no-call",
        ),
        pytest.param({"calls": []}, "simple_function_checker:wrong_count", id="nothing"),
        pytest.param(
            {"calls": [{"name": "shape_area", "arguments": ""}]},
            "ast_decoder:decoder_failed",
            id="blank-arguments",
        ),
        *(
            pytest.param(
                {"calls": [{"name": "shape_area", "arguments": value}]},
                "ast_decoder:decoder_wrong_output_format",
                id=f"arguments-that-are-{name}",
            )
            for name, value in {"null": None, "a-list": [10], "json-null": "null"}.items()
        ),
        pytest.param(
            {"calls": [{"name": "shape_area", "arguments": {"base": float("nan")}}]},
            "type_error:simple",
            id="an-object-with-nan",
        ),
    ],
)
@pytest.mark.usefixtures("data")
def test_predictions_are_scored_as_they_came(
    pytester: pytest.Pytester, answer: dict[str, Any], code: str | None
) -> None:
    path = predict(pytester, {"id": "simple_python_0", **answer})

    pytester.runpytest("--fc-bfcl", SUBSETS, "--fc-predictions", str(path), "-k", "simple_python_0")

    assert codes(pytester.path) == {"simple_python_0": code}


@pytest.mark.usefixtures("data")
def test_missing_predictions_cost_coverage(pytester: pytest.Pytester) -> None:
    path = predict(pytester, ANSWERS[0], ANSWERS[5])

    result = pytester.runpytest(
        "--fc-eval", "--fc-bfcl", "simple_python", "--fc-predictions", str(path)
    )

    # The failed one is the gate's own report.
    result.assert_outcomes(passed=1, errors=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*entries without an answer there, AGENT_ERROR not_run: 2",
            "*answers to other subsets, left aside: 1",
            "coverage: 3 planned, 1 judged, 0 skipped, 2 agent errors, 0 lost",
            "gate=failed 2 cases AGENT_ERROR; coverage 33.3% is below*",
        ]
    )
    report = read_json(last_run(pytester.path) / "report.json")
    assert report["results"][1]["error"]["code"] == "not_run"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["--fc-bfcl", "simple"], "*no subset and no pipeline 'simple'*", id="name"),
        pytest.param(["--fc-bfcl", ","], "*names no subset*", id="no-name"),
        pytest.param(["--fc-bfcl", "parallel", "tests"], "*takes no arguments*", id="a-path"),
        pytest.param(["--fc-bfcl", "parallel", NODES[3]], "*-k and -m*", id="a-node-id"),
        pytest.param(["--fc-predictions", "x.jsonl"], "*add --fc-bfcl*", id="no-subset"),
        pytest.param(
            ["--fc-bfcl", "parallel", "--fc-predictions", "none.jsonl"],
            "*none.jsonl*can't read*",
            id="no-predictions",
        ),
        pytest.param(
            ["--fc-bfcl", "parallel", "--fc-predictions", "unknown.jsonl"],
            "*no BFCL entry, the first of 'parallel_7'*",
            id="unknown-ids",
        ),
    ],
)
@pytest.mark.usefixtures("requests")
def test_usage_errors(pytester: pytest.Pytester, arguments: list[str], said: str) -> None:
    write_lines(pytester.path / "unknown.jsonl", [{"id": "parallel_7", "calls": []}])

    result = pytester.runpytest("--fc-eval", *arguments)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([said])


@pytest.fixture
def nowhere(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and nothing that names another place."""
    monkeypatch.delenv("FC_BFCL_DATA", raising=False)
    monkeypatch.setenv("FC_BFCL_CACHE", str(pytester.path / "cache"))
    try:
        find_data(os.environ)
    except ConfigError:
        return pytester.path / "cache"
    pytest.skip("bfcl_eval is installed here")


@pytest.mark.usefixtures("nowhere")
def test_missing_data_names_the_command_that_gets_it(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest("--fc-eval", "--fc-bfcl", "offline")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*get the data with: pytest --fc-bfcl-fetch"])


def test_data_that_is_there_is_not_fetched_again(pytester: pytest.Pytester, nowhere: Path) -> None:
    package = write_data(nowhere / "bfcl-eval-2026.3.23")

    result = pytester.runpytest("--fc-bfcl-fetch")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines([f"bfcl_data={package / 'data'}"])


def test_a_fetch_that_fails_is_a_usage_error(
    pytester: pytest.Pytester, nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")

    result = pytester.runpytest("--fc-bfcl-fetch")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*pip can't download bfcl-eval==2026.3.23*"])
    assert list(nowhere.iterdir()) == []


@pytest.mark.usefixtures("nowhere")
def test_the_ini_value_names_the_data(pytester: pytest.Pytester) -> None:
    write_data(pytester.path / "elsewhere")
    pytester.makeini("[pytest]\nfc_bfcl_data = elsewhere/bfcl_eval")
    pytester.makepyfile(
        """
        from fc_eval.bfcl import load_entries

        def test_it():
            assert len(load_entries("parallel")) == 2
        """
    )

    path = predict(pytester, *ANSWERS)
    scored = pytester.runpytest("--fc-bfcl", "parallel", "--fc-predictions", str(path))
    loaded = pytester.runpytest()

    scored.assert_outcomes(passed=1, failed=1)
    loaded.assert_outcomes(passed=1)


def test_official_ground_truths_pass(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        folder = find_data(ENVIRON)
    except ConfigError as error:
        pytest.skip(f"no BFCL data: {error.problem}")
    monkeypatch.setenv("FC_BFCL_DATA", str(folder))
    lines = (folder / "possible_answer" / "BFCL_v4_multiple.json").read_text("utf-8").splitlines()
    answers = []
    for line in map(json.loads, lines):
        calls = [
            {
                "name": name.replace(".", "_"),
                "arguments": {key: values[0] for key, values in label.items() if values[0] != ""},
            }
            for item in line["ground_truth"]
            for name, label in item.items()
        ]
        answers.append({"id": line["id"], "calls": calls})
    path = predict(pytester, *answers)

    result = pytester.runpytest("--fc-bfcl", "multiple", "--fc-predictions", str(path), "-q")

    report = read_json(last_run(pytester.path) / "report.json")
    assert report["metrics"]["subsets"]["multiple"]["complete"]
    assert report["summary"]["accuracy"] > 0.9
    result.stdout.fnmatch_lines(["multiple *200 of 200*"])
