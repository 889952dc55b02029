"""Runs that are on disk already: replayed, resumed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.plugin.support import (
    BERGEN,
    OSLO,
    QUIET,
    RIGHT,
    WRONG,
    asks_oslo,
    last_run,
    read_json,
    weather,
)

WORKERS = pytest.mark.parametrize("workers", ["0", "2"], ids=["one-process", "two-workers"])


def forbid_the_agent(pytester: pytest.Pytester) -> None:
    """From now on a run of the agent ends in an error."""
    conftest = pytester.path / "conftest.py"
    text = conftest.read_text().replace(
        "def act(task):", "def act(task):\n    raise OSError('sent')"
    )
    conftest.write_text(text)


def without_times(report: dict[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(json.dumps(report))
    plain["statistics"]["cost"]["seconds"] = None
    return plain


@WORKERS
def test_a_replay_judges_again_and_sends_nothing(pytester: pytest.Pytester, workers: str) -> None:
    weather(pytester, RIGHT, WRONG, QUIET)
    pytester.runpytest("--fc-eval")
    recorded = last_run(pytester.path).rename(pytester.path / "recorded")
    forbid_the_agent(pytester)

    result = pytester.runpytest_subprocess(
        "--fc-eval", "--fc-replay", "recorded/raw_run.json", "-n", workers
    )

    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["replay: every verdict is as the run's own report has it"])
    again = last_run(pytester.path)
    assert (
        read_json(again / "raw_run.json")["cases"] == read_json(recorded / "raw_run.json")["cases"]
    )
    assert read_json(again / "report.json") == read_json(recorded / "report.json")


def test_a_replay_of_another_suite_is_refused(pytester: pytest.Pytester) -> None:
    weather(pytester, RIGHT)
    pytester.runpytest("--fc-eval")
    recorded = last_run(pytester.path)
    weather(pytester, RIGHT, WRONG)

    result = pytester.runpytest("--fc-eval", "--fc-replay", str(recorded))

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*another cases hash*"])


def test_a_replay_lists_the_verdicts_that_moved(pytester: pytest.Pytester) -> None:
    weather(pytester, RIGHT, WRONG)
    pytester.runpytest("--fc-eval")
    recorded = last_run(pytester.path)
    raw = read_json(recorded / "raw_run.json")
    raw["cases"][0]["calls"][0]["arguments"]["city"] = "Bergen"
    (recorded / "raw_run.json").write_text(json.dumps(raw))

    result = pytester.runpytest("--fc-eval", "--fc-replay", str(recorded))

    result.stdout.fnmatch_lines(["replay: w-right was PASS, is FAIL PARAM_WRONG_VALUE"])


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda path: path.write_bytes(path.read_bytes()[:-20]), id="cut"),
        pytest.param(lambda path: path.write_bytes(b"\xff\xfe"), id="not-utf-8"),
        pytest.param(lambda path: path.write_text("[]"), id="another-shape"),
        pytest.param(lambda path: path.unlink(), id="gone"),
    ],
)
def test_a_raw_run_that_cannot_be_read(pytester: pytest.Pytester, damage: Any) -> None:
    weather(pytester, RIGHT)
    pytester.runpytest("--fc-eval")
    raw = last_run(pytester.path) / "raw_run.json"
    damage(raw)

    result = pytester.runpytest("--fc-eval", "--fc-replay", str(raw))

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*.fc_eval/runs/*", "*fix: *"])


def interrupted(pytester: pytest.Pytester, workers: str) -> Path:
    """A run of six cases that was killed in its third, and is not run again from there."""
    conftest_line = "elif word == 'die':"
    lines = [asks_oslo(f"w-{n}", f"{OSLO}\n# {n}") for n in range(6)]
    lines[3]["instruction"] = f"{OSLO}\ndie"
    weather(pytester, *lines)
    conftest = pytester.path / "conftest.py"
    text = conftest.read_text().replace('elif word == "die":', conftest_line)
    conftest.write_text(text.replace(conftest_line, 'elif word == "die" and "DIE" in os.environ:'))
    pytester.runpytest_subprocess("--fc-eval", "--fc-concurrency", "1", "-n", workers)
    return last_run(pytester.path)


@WORKERS
def test_a_killed_run_is_resumed_without_asking_twice(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, workers: str
) -> None:
    monkeypatch.setenv("DIE", "1")
    folder = interrupted(pytester, "0")
    monkeypatch.delenv("DIE")
    journal = (folder / "journal.jsonl").read_text().splitlines()
    done = {json.loads(line)["case_id"] for line in journal[1:]}
    assert done
    assert not (folder / "raw_run.json").exists()
    conftest = pytester.path / "conftest.py"
    log = pytester.path / "asked.log"
    conftest.write_text(
        conftest.read_text().replace(
            "def act(task):",
            "def act(task):\n"
            f"    with open({str(log)!r}, 'a') as file:\n"
            "        print(task.instruction.splitlines()[-1], file=file)",
        )
    )

    result = pytester.runpytest_subprocess("--fc-eval", "--fc-resume", str(folder), "-n", workers)

    result.assert_outcomes(passed=6)
    asked = set(log.read_text().split("\n")) - {""}
    assert len(asked) == 6 - len(done)
    assert [trace["case_id"] for trace in read_json(folder / "raw_run.json")["cases"]] == [
        f"w-{n}" for n in range(6)
    ]


def test_a_resumed_run_reports_as_an_uninterrupted_one(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIE", "1")
    folder = interrupted(pytester, "0").rename(pytester.path / "stopped")
    monkeypatch.delenv("DIE")
    pytester.runpytest_subprocess("--fc-eval", "--fc-resume", str(folder))
    pytester.runpytest("--fc-eval")
    whole = last_run(pytester.path)

    resumed, fresh = (without_times(read_json(f / "report.json")) for f in (folder, whole))

    for report in (resumed, fresh):
        del report["run_id"], report["started_at"]
    assert resumed == fresh


def test_agent_errors_are_run_again(pytester: pytest.Pytester) -> None:
    weather(pytester, RIGHT, asks_oslo("w-later", "raise not yet"))
    pytester.runpytest("--fc-eval")
    folder = last_run(pytester.path)
    conftest = pytester.path / "conftest.py"
    conftest.write_text(
        conftest.read_text().replace(
            "raise RuntimeError(rest)", 'task.call("get_weather", {"city": "Oslo"})'
        )
    )

    result = pytester.runpytest_subprocess("--fc-eval", "--fc-resume", str(folder))

    result.assert_outcomes(passed=2)


def test_a_run_with_other_inputs_is_not_resumed(pytester: pytest.Pytester) -> None:
    weather(pytester, RIGHT)
    pytester.runpytest("--fc-eval")
    weather(pytester, asks_oslo("w-right", BERGEN))

    result = pytester.runpytest("--fc-eval", "--fc-resume", str(last_run(pytester.path)))

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*cases changed since*"])


def test_a_folder_without_a_run_cannot_be_resumed(pytester: pytest.Pytester) -> None:
    weather(pytester, RIGHT)

    result = pytester.runpytest("--fc-eval", "--fc-resume", "nowhere")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*journal*"])


@pytest.mark.parametrize("repeats", ["1", "2"], ids=["a-case", "a-repeat"])
@WORKERS
def test_what_was_not_recorded_is_never_green(
    pytester: pytest.Pytester, repeats: str, workers: str
) -> None:
    weather(pytester, RIGHT, QUIET)
    pytester.runpytest("--fc-eval", "--fc-repeat", repeats)
    raw = last_run(pytester.path) / "raw_run.json"
    data = read_json(raw)
    data["cases"] = data["cases"][:-1]
    raw.write_text(json.dumps(data))

    result = pytester.runpytest_subprocess("--fc-eval", "--fc-replay", str(raw), "-n", workers)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*not recorded*", "gate=failed 1 case AGENT_ERROR; coverage*"])
