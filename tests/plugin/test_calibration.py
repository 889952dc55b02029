"""From a judged run to a locked baseline, and what the baseline then says of later runs."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.plugin.support import (
    BERGEN,
    OSLO,
    RIGHT,
    WRONG,
    asks_oslo,
    last_run,
    read_json,
    weather,
    write_suite,
)

WORKERS = pytest.mark.parametrize("workers", ["0", "2"], ids=["one-process", "two-workers"])
OTHERS = [asks_oslo(f"w-{name}", f"{OSLO}\n# {name}") for name in ("a", "b", "c", "d", "e")]
SUITE = [RIGHT, WRONG, *OTHERS]


def decide(root: Path, decision: str = "model_fault") -> None:
    """Fill in every open decision of the review."""
    path = root / "baselines" / "review.json"
    review = read_json(path)
    for entry in review["entries"]:
        if entry["decision"] is None:
            entry.update(decision=decision, note="looked at it")
    path.write_text(json.dumps(review), encoding="utf-8")


def locked(pytester: pytest.Pytester, *lines: dict[str, Any]) -> Path:
    """A project with a locked baseline; its runs are cleared away."""
    weather(pytester, *(lines or SUITE))
    pytester.runpytest("--fc-eval", "--fc-write-review", "-q")
    decide(pytester.path)
    result = pytester.runpytest("--fc-lock-baseline", "-q")
    assert result.ret == pytest.ExitCode.OK
    clear_runs(pytester)
    return pytester.path / "baselines" / "baseline.json"


def clear_runs(pytester: pytest.Pytester) -> None:
    runs = pytester.path / ".fc_eval"
    runs.rename(pytester.path / f"runs-{len(list(pytester.path.glob('runs-*')))}")


def test_a_lock_is_refused_until_every_fail_is_reviewed(pytester: pytest.Pytester) -> None:
    weather(pytester, RIGHT, WRONG)

    refused = pytester.runpytest("--fc-lock-baseline")

    assert refused.ret == pytest.ExitCode.TESTS_FAILED
    refused.stdout.fnmatch_lines(
        ["the baseline is not locked:", "*w-wrong*", "gate=failed the baseline is not locked*"]
    )
    assert not (pytester.path / "baselines" / "baseline.json").exists()
    (entry,) = read_json(pytester.path / "baselines" / "review.json")["entries"]
    assert entry["instruction"] == BERGEN
    assert entry["golden"]["calls"][0]["params"] == {"city": "Oslo"}
    assert entry["actual"][0]["arguments"] == {"city": "Bergen"}

    decide(pytester.path)
    accepted = pytester.runpytest("--fc-lock-baseline")

    assert accepted.ret == pytest.ExitCode.OK
    accepted.stdout.fnmatch_lines(["baseline=baselines/baseline.json *", "gate=passed"])


@pytest.mark.parametrize("decision", ["judge_misjudgment", "golden_error"])
def test_a_fault_of_ours_is_never_locked(pytester: pytest.Pytester, decision: str) -> None:
    weather(pytester, RIGHT, WRONG)
    pytester.runpytest("--fc-eval", "--fc-write-review")
    decide(pytester.path, decision)

    result = pytester.runpytest("--fc-lock-baseline")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*the review says that the *w-wrong*"])


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        pytest.param(["-k", "w-right"], "*covers 1 of 2*", id="partial"),
        pytest.param([], "*AGENT_ERROR*", id="agent-error"),
    ],
)
def test_what_is_not_whole_is_never_locked(
    pytester: pytest.Pytester, arguments: list[str], reason: str
) -> None:
    weather(pytester, RIGHT, asks_oslo("w-broken", "raise no wire"))

    result = pytester.runpytest("--fc-lock-baseline", *arguments)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["gate=failed the baseline is not locked*"])
    assert not (pytester.path / "baselines" / "baseline.json").exists()


def test_an_unstable_model_is_not_locked(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLAKY", "a b")
    weather(pytester, *SUITE)
    pytester.runpytest("--fc-eval", "--fc-write-review", "--fc-repeat", "2")
    decide(pytester.path)

    result = pytester.runpytest("--fc-lock-baseline")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*consistency fails: 28.6 % of the cases are unstable*"])


def test_stored_runs_are_locked_without_asking_again(pytester: pytest.Pytester) -> None:
    weather(pytester, *SUITE)
    runs = []
    for number in range(3):
        pytester.runpytest("--fc-eval", "-q")
        runs.append(str(last_run(pytester.path).rename(pytester.path / f"run-{number}")))
    conftest = pytester.path / "conftest.py"
    conftest.write_text(conftest.read_text().replace("def act(task):", "def act(task):\n    1 / 0"))
    refused = pytester.runpytest("--fc-lock-baseline", "--fc-from", *runs)
    assert refused.ret == pytest.ExitCode.TESTS_FAILED
    refused.stdout.fnmatch_lines(["*no decision in the review*w-wrong*"])
    decide(pytester.path)

    result = pytester.runpytest("--fc-lock-baseline", "--fc-from", *runs)

    assert result.ret == pytest.ExitCode.OK
    baseline = read_json(pytester.path / "baselines" / "baseline.json")
    assert baseline["report"]["run_id"] == read_json(Path(runs[0]) / "raw_run.json")["run_id"]
    assert len(baseline["consistency"]["runs"]) == 3


def test_locking_again_archives_the_old_baseline_byte_for_byte(pytester: pytest.Pytester) -> None:
    baseline = locked(pytester)
    old = baseline.read_bytes()
    write_suite(pytester.path, *SUITE, asks_oslo("w-new", f"{OSLO}\n# new"))

    result = pytester.runpytest("--fc-lock-baseline")

    assert result.ret == pytest.ExitCode.OK
    (archive,) = (pytester.path / "baselines" / "history").glob("*.json")
    assert archive.name == f"7_cases_{json.loads(old)['baseline_id']}.json"
    assert archive.read_bytes() == old
    digest = hashlib.sha256(old).hexdigest()
    assert archive.with_name(f"{archive.name}.sha256").read_text().startswith(digest)


# --- the gate -------------------------------------------------------------------------------------


@WORKERS
@pytest.mark.parametrize(
    ("flips", "outcomes", "line"),
    [
        pytest.param("", {"passed": 6, "xfailed": 1}, "gate=passed", id="as-it-was"),
        pytest.param(
            "a", {"passed": 5, "xfailed": 1, "failed": 1}, "gate=failed 1 case FAIL", id="one-flip"
        ),
        pytest.param(
            "a b c d e",
            {"passed": 1, "xfailed": 1, "failed": 5},
            "gate=failed 5 cases FAIL",
            id="five-flips",
        ),
    ],
)
def test_new_fails_are_red_and_known_ones_are_not(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    workers: str,
    flips: str,
    outcomes: dict[str, int],
    line: str,
) -> None:
    locked(pytester)
    monkeypatch.setenv("FLIP", flips)

    result = pytester.runpytest("--fc-eval", "-n", workers, "--junitxml=j.xml", "--json-report")

    result.assert_outcomes(**outcomes)
    assert result.ret == (1 if flips else 0)
    result.stdout.fnmatch_lines([line])
    comparison = read_json(last_run(pytester.path) / "report.json")["baseline_comparison"]
    assert comparison["broken"] == [f"w-{flip}" for flip in flips.split()]
    assert comparison["still_failing"] == ["w-wrong"]


def test_a_fixed_case_is_xpassed_and_strictness_does_not_matter(pytester: pytest.Pytester) -> None:
    locked(pytester)
    conftest = pytester.path / "conftest.py"
    conftest.write_text(conftest.read_text().replace("json.loads(rest)", '{"city": "Oslo"}'))

    result = pytester.runpytest("--fc-eval", "-o", "xfail_strict=true")

    result.assert_outcomes(passed=6, xpassed=1)
    assert result.ret == pytest.ExitCode.OK
    assert read_json(last_run(pytester.path) / "report.json")["baseline_comparison"]["fixed"] == [
        "w-wrong"
    ]


def test_changed_and_added_cases_gate_by_themselves(pytester: pytest.Pytester) -> None:
    locked(pytester)
    changed = asks_oslo("w-a", f"{BERGEN}\n# a")
    added = asks_oslo("w-added", f"{BERGEN}\n# added")
    write_suite(pytester.path, RIGHT, WRONG, changed, *OTHERS[1:4], added)

    result = pytester.runpytest("--fc-eval")

    result.assert_outcomes(passed=4, xfailed=1, failed=2)
    result.stdout.fnmatch_lines(
        ["*headlines are not comparable (the cases differ)*", "*new: 1: w-added", "*gone: 1: w-e"]
    )


def test_an_agent_error_is_no_known_failure(pytester: pytest.Pytester) -> None:
    locked(pytester)
    conftest = pytester.path / "conftest.py"
    conftest.write_text(conftest.read_text().replace("def act(task):", "def act(task):\n    1 / 0"))

    result = pytester.runpytest("--fc-eval")

    result.assert_outcomes(errors=7, failed=1)
    result.stdout.fnmatch_lines(["gate=failed 7 cases AGENT_ERROR; coverage 0.0% is below*"])


def test_a_lost_worker_is_red_by_a_report_of_its_own(pytester: pytest.Pytester) -> None:
    locked(pytester)
    conftest = pytester.path / "conftest.py"
    conftest.write_text(
        conftest.read_text().replace(
            "def act(task):",
            "def act(task):\n    if '# c' in task.instruction:\n        os.kill(os.getpid(), 9)",
        )
    )

    result = pytester.runpytest_subprocess("--fc-eval", "-n", "2", "--json-report")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["gate=failed coverage 85.7% is below 100.0%: *1 lost*"])
    tests = read_json(pytester.path / ".report.json")["tests"]
    assert {"nodeid": "fc-gate", "outcome": "failed"} in [
        {"nodeid": test["nodeid"], "outcome": test["outcome"]} for test in tests
    ]


def test_a_subset_compares_what_it_has(pytester: pytest.Pytester) -> None:
    locked(pytester)

    result = pytester.runpytest("--fc-eval", "-k", "w-a or w-wrong")

    result.assert_outcomes(passed=1, xfailed=1, deselected=5)
    comparison = read_json(last_run(pytester.path) / "report.json")["baseline_comparison"]
    assert comparison["shared"] == 2
    assert comparison["gone"] == []


def test_zero_selected_cases_are_never_green(pytester: pytest.Pytester) -> None:
    locked(pytester)

    assert pytester.runpytest("--fc-eval", "-k", "nothing").ret == 5


@pytest.mark.parametrize("gate", ["baseline", None], ids=["asked-for", "default"])
def test_no_baseline(pytester: pytest.Pytester, gate: str | None) -> None:
    weather(pytester, RIGHT)

    result = pytester.runpytest("--fc-eval", *(["--fc-gate", gate] if gate else []))

    if gate is None:
        assert result.ret == pytest.ExitCode.OK
    else:
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        result.stdout.fnmatch_lines(["gate=failed there is no baseline baselines/baseline.json*"])


def test_repeats_gate_a_stable_fail_against_a_stable_pass(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked(pytester)
    monkeypatch.setenv("FLAKY", "a")
    monkeypatch.setenv("FLIP", "b")

    result = pytester.runpytest("--fc-eval", "--fc-repeat", "4")

    result.assert_outcomes(passed=4, xfailed=2, failed=1)
    result.stdout.fnmatch_lines(["*4 stable pass, 2 stable fail, 1 flaky*", "gate=failed 1 case*"])
    statistics = read_json(last_run(pytester.path) / "report.json")["statistics"]["repeats"]
    assert statistics["flaky"] == ["w-a"]


# --- integrity ------------------------------------------------------------------------------------


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_a_sound_baseline_validates(pytester: pytest.Pytester) -> None:
    locked(pytester)

    result = pytester.runpytest("--fc-validate")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["case_validation=passed", "baseline_validation=passed"])


@pytest.mark.parametrize(
    ("name", "old", "new", "found"),
    [
        pytest.param(
            "raw_run.json",
            '"arguments":{"city":"Bergen"}',
            '"arguments":{"city":"Oslo"}',
            "judged again",
            id="a-call-of-the-raw-run",
        ),
        pytest.param("raw_run.json", "done", "none", "digest", id="a-byte-of-the-raw-run"),
        pytest.param("baseline.json", "looked", "Looked", "id", id="a-byte-of-the-baseline"),
        pytest.param("baseline.json", '"flags"', '"flagS"', "id", id="a-name-that-nobody-reads"),
    ],
)
def test_an_edited_baseline_is_found_and_named(
    pytester: pytest.Pytester, name: str, old: str, new: str, found: str
) -> None:
    folder = locked(pytester).parent
    edit(folder / name, old, new)

    result = pytester.runpytest("--fc-validate")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    errors = result.stderr.str()
    assert "baselines/baseline.json" in errors
    assert found in errors


def test_a_baseline_that_cannot_be_read_is_a_usage_error(pytester: pytest.Pytester) -> None:
    baseline = locked(pytester)
    baseline.write_text(baseline.read_text()[:-100])

    result = pytester.runpytest("--fc-eval")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*baseline.json*"])


def test_a_review_of_another_behaviour_does_not_count(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked(pytester)
    conftest = pytester.path / "conftest.py"
    conftest.write_text(
        conftest.read_text().replace("json.loads(rest)", '{**json.loads(rest), "days": 2}')
    )

    result = pytester.runpytest("--fc-lock-baseline")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*no decision in the review for a FAIL of w-*"])


# --- offline commands -----------------------------------------------------------------------------


def stored(pytester: pytest.Pytester, name: str) -> str:
    pytester.runpytest("--fc-eval", "-q", "--fc-gate", "none")
    return str(last_run(pytester.path).rename(pytester.path / name))


def test_two_runs_compared(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    weather(pytester, *SUITE)
    before = stored(pytester, "before")
    monkeypatch.setenv("FLIP", "a")
    after = stored(pytester, "after")

    result = pytester.runpytest("--fc-compare", before, after)

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["*broken: 1: w-a", "*McNemar*", "*seconds: *"])


def test_consistency_of_three_runs(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    weather(pytester, *SUITE)
    runs = [stored(pytester, f"run-{number}") for number in range(2)]
    monkeypatch.setenv("FLIP", "a")
    runs.append(stored(pytester, "run-2"))

    two = pytester.runpytest("--fc-consistency", *runs[:2])
    three = pytester.runpytest("--fc-consistency", *runs)

    assert two.ret == pytest.ExitCode.TESTS_FAILED
    assert three.ret == pytest.ExitCode.TESTS_FAILED
    three.stdout.fnmatch_lines(["*unstable w-a: PASS PASS FAIL", "consistency=failed"])
    record = read_json(pytester.path / ".fc_eval" / "consistency.json")
    assert record["passed"] is False


def test_one_repeated_run_is_consistent_by_itself(pytester: pytest.Pytester) -> None:
    weather(pytester, *SUITE)
    pytester.runpytest("--fc-eval", "--fc-repeat", "3")

    result = pytester.runpytest("--fc-consistency", str(last_run(pytester.path)))

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["consistency=passed"])


def test_a_stored_run_is_shown(pytester: pytest.Pytester) -> None:
    weather(pytester, *SUITE)
    run = stored(pytester, "run")

    whole = pytester.runpytest("--fc-show", run)
    part = pytester.runpytest("--fc-show", run, "-k", "w-wrong")

    whole.stdout.fnmatch_lines(
        ["--- w-right PASS", "--- w-wrong FAIL PARAM_WRONG_VALUE", "6 of 7*"]
    )
    part.stdout.fnmatch_lines(["--- w-wrong FAIL*"])
    part.stdout.no_fnmatch_line("--- w-right*")


def test_the_review_of_the_latest_run_is_written_offline(pytester: pytest.Pytester) -> None:
    weather(pytester, RIGHT, WRONG)
    pytester.runpytest("--fc-eval")

    result = pytester.runpytest("--fc-write-review")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["review: *1 undecided*", "review=baselines/review.json"])


def test_a_review_leaves_runs_of_other_suites_aside(pytester: pytest.Pytester) -> None:
    weather(pytester, RIGHT, WRONG)
    pytester.runpytest("--fc-eval")
    write_suite(pytester.path, RIGHT, asks_oslo("w-elsewhere", f"{BERGEN}\n# elsewhere"))
    pytester.runpytest("--fc-eval")
    write_suite(pytester.path, RIGHT, WRONG)

    result = pytester.runpytest("--fc-write-review")

    assert result.ret == pytest.ExitCode.OK
    (entry,) = read_json(pytester.path / "baselines" / "review.json")["entries"]
    assert entry["case_id"] == "w-wrong"


def part(pytester: pytest.Pytester, name: str, keyword: str) -> str:
    pytester.runpytest("--fc-eval", "-q", "--fc-gate", "none", "-k", keyword)
    return str(last_run(pytester.path).rename(pytester.path / name))


def test_parts_of_a_run_are_merged_into_the_whole(pytester: pytest.Pytester) -> None:
    weather(pytester, *SUITE)
    whole = read_json(Path(stored(pytester, "whole")) / "report.json")
    parts = [
        part(pytester, "one", "w-right or w-b"),
        part(pytester, "two", "not w-right and not w-b"),
    ]

    result = pytester.runpytest("--fc-merge", *reversed(parts))

    assert result.ret == pytest.ExitCode.OK
    merged = read_json(last_run(pytester.path) / "report.json")
    assert merged["results"] == whole["results"]
    assert merged["complete"] is True


def test_what_two_parts_measured_is_not_merged(pytester: pytest.Pytester) -> None:
    weather(pytester, *SUITE)
    parts = [part(pytester, "one", "w-right or w-b"), part(pytester, "two", "w-b")]

    result = pytester.runpytest("--fc-merge", *parts)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*w-b was measured in *"])


def test_a_part_that_could_not_measure_gives_way(pytester: pytest.Pytester) -> None:
    weather(pytester, *SUITE)
    conftest = pytester.path / "conftest.py"
    sound = conftest.read_text()
    conftest.write_text(sound.replace("def act(task):", "def act(task):\n    1 / 0"))
    broken = part(pytester, "one", "w-a or w-b")
    conftest.write_text(sound)
    parts = [broken, part(pytester, "two", "w-b")]

    pytester.runpytest("--fc-merge", *parts)

    report = read_json(last_run(pytester.path) / "report.json")
    assert [result["verdict"] for result in report["results"]] == ["AGENT_ERROR", "PASS"]


def test_runs_of_other_inputs_are_no_parts(pytester: pytest.Pytester) -> None:
    weather(pytester, *SUITE)
    one = part(pytester, "one", "w-a")
    write_suite(pytester.path, *SUITE, asks_oslo("w-new", f"{OSLO}\n# new"))
    two = part(pytester, "two", "w-b")

    result = pytester.runpytest("--fc-merge", one, two)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*differs from * in: cases"])


def test_the_report_counts_what_the_reviewer_decided(pytester: pytest.Pytester) -> None:
    weather(pytester, *SUITE)
    pytester.runpytest("--fc-eval", "--fc-write-review")
    decide(pytester.path, "judge_misjudgment")
    clear_runs(pytester)

    result = pytester.runpytest("--fc-eval")

    result.stdout.fnmatch_lines(["reviewed: 0 model faults, 1 misjudgments (100.0 %)*"])
    review = read_json(last_run(pytester.path) / "report.json")["review"]
    assert (review["judge_misjudgment"], review["misjudgment_rate"]) == (1, 1.0)


def test_a_growing_suite_is_still_judged_again_where_it_is_unchanged(
    pytester: pytest.Pytester,
) -> None:
    locked(pytester)
    write_suite(pytester.path, *SUITE, asks_oslo("w-new", f"{OSLO}\n# new"))
    with (pytester.path / "conftest.py").open("a") as file:
        file.write("\nfrom fc_eval.judge import verdict\nverdict.rank = lambda codes: ()\n")

    result = pytester.runpytest_subprocess("--fc-validate")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*judged again, has other verdicts*"])
