"""A session that is killed, starved of disk or run twice: what is judged is never asked again."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.plugin.endpoint import Answer, Asked, Endpoint, endpoint, project, right
from tests.plugin.support import asks_oslo, last_run, read_json

CASES = 24
WORKERS = pytest.mark.parametrize("workers", ["0", "2"], ids=["one-process", "two-workers"])


def slowly(asked: Asked) -> Answer:
    time.sleep(0.03)
    return right(asked)


@contextmanager
def suite(pytester: pytest.Pytester) -> Iterator[Endpoint]:
    with endpoint(slowly) as model:
        lines = (asks_oslo(f"w-{n:02}", f"case w-{n:02}") for n in range(CASES))
        project(pytester, model.base_url, *lines)
        yield model


@contextmanager
def session(
    root: Path, *options: str, prepare: Callable[[], None] | None = None
) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "pytest", "--fc-eval", "--fc-concurrency", "3", *options]
    process = subprocess.Popen(
        command,
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=prepare,
    )
    try:
        yield process
    finally:
        # What it left behind, such as workers, goes with it.
        if process.poll() is None or options:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def judged(root: Path) -> set[str]:
    """The cases with a whole line in the journal."""
    journal = last_run(root) / "journal.jsonl"
    whole = journal.read_bytes().split(b"\n")[1:-1]
    return {json.loads(line)["case_id"] for line in whole}


def wait_for_requests(model: Endpoint, number: int, process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 60
    while len(model.log) < number and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)


def asked_in(requests: list[Asked]) -> set[str]:
    return {asked.instruction.removeprefix("case ") for asked in requests}


@WORKERS
def test_a_killed_session_is_finished_by_another(pytester: pytest.Pytester, workers: str) -> None:
    with suite(pytester) as model:
        resume: tuple[str, ...] = ()
        for goal in (2, 4, 1):
            before = judged(pytester.path) if resume else set()
            start = len(model.log)
            with session(pytester.path, "-n", workers, *resume) as process:
                wait_for_requests(model, start + 2 * goal, process)
                process.kill()
                process.wait()
            time.sleep(0.2)
            assert asked_in(model.log[start:]) & before == set()
            assert before <= judged(pytester.path)
            resume = ("--fc-resume", str(last_run(pytester.path)))
        before, start = judged(pytester.path), len(model.log)
        result = pytester.runpytest_subprocess("--fc-eval", "-n", workers, *resume)

    result.assert_outcomes(passed=CASES)
    assert asked_in(model.log[start:]) & before == set()
    raw = read_json(last_run(pytester.path) / "raw_run.json")
    assert raw["complete"] is True
    assert [trace["case_id"] for trace in raw["cases"]] == [f"w-{n:02}" for n in range(CASES)]


def test_a_killed_worker_loses_its_case_only(pytester: pytest.Pytester) -> None:
    with suite(pytester) as model:
        with session(pytester.path, "-n", "2") as process:
            wait_for_requests(model, 11, process)
            os.kill(_a_child_of(process.pid), signal.SIGKILL)
            process.communicate(timeout=60)
        kept = judged(pytester.path)
        start = len(model.log)
        resume = ("--fc-resume", str(last_run(pytester.path)))
        result = pytester.runpytest_subprocess("--fc-eval", *resume)

    assert len(kept) >= CASES - 1
    result.assert_outcomes(passed=CASES)
    assert asked_in(model.log[start:]) & kept == set()


def _a_child_of(pid: int) -> int:
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=True)
    return int(found.stdout.split()[0])


def test_a_torn_line_is_a_case_that_was_not_run(pytester: pytest.Pytester) -> None:
    with suite(pytester) as model:
        pytester.runpytest_subprocess("--fc-eval").assert_outcomes(passed=CASES)
        journal = last_run(pytester.path) / "journal.jsonl"
        whole = journal.read_bytes()
        journal.write_bytes(whole[:-100])
        start = len(model.log)
        resume = ("--fc-resume", str(journal.parent))
        result = pytester.runpytest_subprocess("--fc-eval", *resume)

    result.assert_outcomes(passed=CASES)
    result.stdout.fnmatch_lines(["*dropped a line that a crash cut off*"])
    assert len(asked_in(model.log[start:])) == 1


def test_a_full_disk_is_a_clear_error_and_nothing_is_half_written(
    pytester: pytest.Pytester,
) -> None:
    def few_bytes() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    with suite(pytester):
        with session(pytester.path, "-p", "no:cacheprovider", prepare=few_bytes) as process:
            text = process.communicate(timeout=60)[0]
        folder = last_run(pytester.path)
        written = sorted(path.name for path in folder.iterdir())
        before = judged(pytester.path)
        result = pytester.runpytest_subprocess("--fc-eval", "--fc-resume", str(folder))

    assert process.returncode == pytest.ExitCode.USAGE_ERROR
    assert "journal.jsonl: can't be written" in text
    assert "eval_fc=failed" in text
    assert written == ["journal.jsonl"]
    assert before
    result.assert_outcomes(passed=CASES)


def test_two_sessions_do_not_write_in_one_folder(pytester: pytest.Pytester) -> None:
    with suite(pytester) as model:
        with session(pytester.path) as process:
            wait_for_requests(model, 11, process)
            process.kill()
            process.wait()
        resume = ("--fc-resume", str(last_run(pytester.path)))
        with session(pytester.path, *resume) as first, session(pytester.path, *resume) as second:
            texts = [process.communicate(timeout=60)[0] for process in (first, second)]

    codes = sorted((first.returncode, second.returncode))
    finished: Any = [text for text in texts if f"{CASES} passed" in text]
    assert codes == [0, int(pytest.ExitCode.USAGE_ERROR)], texts
    assert len(finished) == 1
    assert "another session is writing in this folder" in "".join(texts)
    assert max(_times_finished(model).values()) == 1


def _times_finished(model: Endpoint) -> dict[str, int]:
    """How often each case of the second half was answered to its end."""
    ends = [asked.instruction for asked in model.log if asked.step]
    return {name: ends.count(name) for name in ends if name >= "case w-12"}
