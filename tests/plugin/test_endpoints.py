"""Sessions over a model on loopback that fails now and then: nothing is lost or asked twice."""

from __future__ import annotations

import itertools
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

from tests.plugin.endpoint import (
    Answer,
    Asked,
    calling,
    completion,
    endpoint,
    error,
    project,
    right,
)
from tests.plugin.support import asks_oslo, case, last_run, read_json

WORKERS = pytest.mark.parametrize("workers", ["0", "2"], ids=["one-process", "two-workers"])


def cases(number: int) -> list[dict[str, Any]]:
    return [asks_oslo(f"w-{n:03}", f"case w-{n:03}") for n in range(number)]


def wrong(case_id: str) -> dict[str, Any]:
    line = asks_oslo(case_id, f"case {case_id}")
    line["golden"]["calls"][0]["params"] = {"city": "Bergen"}
    return line


@WORKERS
def test_faults_are_repeated_and_every_try_is_counted(
    pytester: pytest.Pytester, workers: str
) -> None:
    number = itertools.count()

    def answer(asked: Asked) -> Answer:
        turn = next(number)
        if turn % 20 == 7:
            return error(429 if turn % 40 == 7 else 500, **{"retry-after-ms": "10"})
        time.sleep(0.005)
        return right(asked)

    with endpoint(answer) as model:
        project(pytester, model.base_url, *cases(60))
        result = pytester.runpytest_subprocess("--fc-eval", "--fc-concurrency", "16", "-n", workers)

    result.assert_outcomes(passed=60)
    raw = read_json(last_run(pytester.path) / "raw_run.json")
    failed = [asked for asked in model.log if asked.status != 200]
    assert len(failed) == len(model.log) // 20
    assert sum(len(trace["attempts"]) for trace in raw["cases"]) == len(failed)
    assert sum(len(trace["exchanges"]) for trace in raw["cases"]) == len(model.log) - len(failed)
    assert 1 < model.peak <= (16 if workers == "0" else 2)
    result.stdout.fnmatch_lines([f"*{len(failed)} requests failed and were tried again*"])


def test_a_rate_limit_holds_for_the_whole_process(pytester: pytest.Pytester) -> None:
    limited: list[float] = []

    def answer(asked: Asked) -> Answer:
        if len(limited) == 0 and asked.instruction.endswith("w-004"):
            limited.append(time.monotonic())
            return error(429, **{"Retry-After": "1"})
        time.sleep(0.02)
        return right(asked)

    with endpoint(answer) as model:
        project(pytester, model.base_url, *cases(12))
        pytester.runpytest_subprocess("--fc-eval", "--fc-concurrency", "4").assert_outcomes(
            passed=12
        )

    # What was on its way may still arrive; after that it is quiet for a second.
    on_the_way = 0.3
    pause = [asked for asked in model.log if on_the_way < asked.came - limited[0] < 1]
    assert pause == []


def test_a_session_that_stops_counts_what_it_throws_away(pytester: pytest.Pytester) -> None:
    def answer(asked: Asked) -> Answer:
        # The bad case takes long enough for those behind it to begin.
        time.sleep(0.3 if asked.instruction.endswith(("w-000", "w-bad")) else 3)
        return right(asked)

    with endpoint(answer) as model:
        first, *others = cases(20)
        project(pytester, model.base_url, first, wrong("w-bad"), *others)
        result = pytester.runpytest_subprocess(
            "--fc-eval", "-x", "--fc-gate", "cases", "--fc-concurrency", "4"
        )

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    raw = read_json(last_run(pytester.path) / "raw_run.json")
    assert [trace["case_id"] for trace in raw["cases"]] == ["w-000", "w-bad"]
    result.stdout.re_match_lines([r"[34] runs were started ahead and thrown away"])


def test_an_interrupted_session_keeps_what_is_finished(pytester: pytest.Pytester) -> None:
    def answer(asked: Asked) -> Answer:
        time.sleep(0.01 if asked.instruction < "case w-004" else 5)
        return right(asked)

    with endpoint(answer) as model:
        project(pytester, model.base_url, *cases(20))
        command = [sys.executable, "-m", "pytest", "--fc-eval", "--fc-concurrency", "4"]
        with subprocess.Popen(
            command, cwd=pytester.path, stdout=subprocess.PIPE, text=True, process_group=0
        ) as process:
            # The bash of a background job ignores the signal, and children inherit that.
            _wait_for(lambda: len({asked.instruction for asked in model.log if asked.step}) == 4)
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            text = process.communicate()[0]

    assert process.returncode == pytest.ExitCode.INTERRUPTED, text
    raw = read_json(last_run(pytester.path) / "raw_run.json")
    assert [trace["case_id"] for trace in raw["cases"]] == [f"w-{n:03}" for n in range(4)]
    assert "4 runs were started ahead and thrown away" in text


def _wait_for(happened: Any) -> None:
    end = time.monotonic() + 30
    while not happened() and time.monotonic() < end:
        time.sleep(0.05)
    assert happened()


def test_a_malformed_call_is_no_abstention(pytester: pytest.Pytester) -> None:
    def answer(asked: Asked) -> Answer:
        done = {"role": "assistant", "content": "Done."}
        return completion(done if asked.step else calling(arguments='{"city": '))

    with endpoint(answer) as model:
        project(pytester, model.base_url, case("w-quiet", "hello"))
        result = pytester.runpytest_subprocess("--fc-eval", "--fc-gate", "cases")

    result.assert_outcomes(failed=1)
    report = read_json(last_run(pytester.path) / "report.json")
    assert report["results"][0]["taxonomies"] == ["CALL_UNEXPECTED"]


def test_an_error_after_a_model_fault_shows_that_fault(pytester: pytest.Pytester) -> None:
    def answer(asked: Asked) -> Answer:
        return error(400) if asked.step else completion(calling(arguments='{"city": '))

    with endpoint(answer) as model:
        project(pytester, model.base_url, *cases(1))
        pytester.runpytest_subprocess("--fc-eval").assert_outcomes(errors=1, failed=1)

    (found,) = read_json(last_run(pytester.path) / "report.json")["results"]
    assert (found["verdict"], found["error"]["code"]) == ("AGENT_ERROR", "request_rejected")
    assert any("PARAM_WRONG_FORMAT" in warning for warning in found["warnings"])


@WORKERS
def test_a_prompt_format_that_does_not_exist(pytester: pytest.Pytester, workers: str) -> None:
    project(pytester, "http://127.0.0.1:9/v1", *cases(1), tool_mode="prompt", prompt_format="smoke")

    result = pytester.runpytest_subprocess("--fc-eval", "-n", workers)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "'smoke'" in result.stderr.str()


def test_schemas_that_the_profile_can_not_send(pytester: pytest.Pytester) -> None:
    project(pytester, "http://127.0.0.1:9/v1", *cases(1), schema_profile="plain")
    conftest = pytester.path / "conftest.py"
    old = '"days": {"type": "integer"}'
    text = conftest.read_text()
    assert old in text
    conftest.write_text(text.replace(old, '"days": {"$ref": "#/properties/days"}'))

    result = pytester.runpytest_subprocess("--fc-eval")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "refers to itself" in result.stderr.str()


def test_what_a_schema_profile_changes_is_in_the_raw_run(pytester: pytest.Pytester) -> None:
    with endpoint(right) as model:
        project(pytester, model.base_url, *cases(1), schema_profile="plain")
        pytester.runpytest_subprocess("--fc-eval").assert_outcomes(passed=1)

    raw = read_json(last_run(pytester.path) / "raw_run.json")
    assert (
        "get_weather: parameters: additionalProperties left out" in raw["model"]["schema_changes"]
    )
