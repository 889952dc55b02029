"""What is wrong before a case runs: one clear message, exit 4, nothing sent."""

from __future__ import annotations

import pytest

from tests.plugin.support import OSLO, RIGHT, asks_oslo, case, weather

WORKERS = pytest.mark.parametrize("workers", ["0", "2"], ids=["one-process", "two-workers"])


def without_agent(pytester: pytest.Pytester) -> None:
    conftest = pytester.path / "conftest.py"
    conftest.write_text(conftest.read_text().partition("@pytest.fixture")[0])


@WORKERS
def test_all_faults_of_a_suite_are_listed(pytester: pytest.Pytester, workers: str) -> None:
    weather(
        pytester,
        case("w-1", "one", ("get_wether", {"city": "Oslo"})),
        case("w-2", "two", ("get_weather", {"city": "Rome"})),
        case("w-2", "three", ("get_weather", {"city": "Oslo", "days": "two"})),
    )

    result = pytester.runpytest_subprocess("--fc-eval", "-n", workers)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    errors = result.stderr.str()
    for line in (1, 2, 3):
        assert f"cases/weather.jsonl:{line}: " in errors
    assert "get_weather" in errors
    assert not (pytester.path / ".fc_eval").exists()


@WORKERS
def test_an_unknown_model_names_those_that_exist(pytester: pytest.Pytester, workers: str) -> None:
    weather(pytester, RIGHT)
    pytester.makepyprojecttoml(
        '[tool.fc_eval.models.big]\nbase_url = "http://127.0.0.1:9/v1"\n'
        '[tool.fc_eval.models.small]\nbase_url = "http://127.0.0.1:9/v1"\n'
    )

    result = pytester.runpytest_subprocess("--fc-eval", "--fc-model", "nope", "-n", workers)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "'nope'" in result.stderr.str()
    assert "big, small" in result.stderr.str()


def test_neither_model_nor_agent(pytester: pytest.Pytester) -> None:
    weather(pytester, RIGHT)
    without_agent(pytester)

    result = pytester.runpytest("--fc-eval")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*neither a model nor an fc_agent*"])


def test_a_missing_key_names_variable_and_place(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SOME_KEY", raising=False)
    weather(pytester, RIGHT)
    without_agent(pytester)
    pytester.makepyprojecttoml(
        '[tool.fc_eval]\nmodel = "big"\n[tool.fc_eval.models.big]\n'
        'base_url = "https://model.example/v1"\napi_key_env = "SOME_KEY"\n'
    )

    result = pytester.runpytest("--fc-eval")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*SOME_KEY*"])


@pytest.mark.parametrize("consent", [None, "1"], ids=["without-consent", "EVAL_MODE"])
def test_a_remote_model_needs_consent(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, consent: str | None
) -> None:
    monkeypatch.delenv("EVAL_MODE", raising=False)
    weather(pytester, RIGHT)
    without_agent(pytester)
    pytester.makepyprojecttoml(
        '[tool.fc_eval]\nmodel = "big"\n[tool.fc_eval.models.big]\n'
        'base_url = "https://model.invalid/v1"\napi_key_env = "NO_SUCH_KEY"\n'
    )
    if consent is not None:
        (pytester.path / ".env").write_text(f"EVAL_MODE={consent}\n")

    result = pytester.runpytest("-rs")

    if consent is None:
        result.assert_outcomes(skipped=1)
        assert result.ret == pytest.ExitCode.OK
        result.stdout.fnmatch_lines(["*gate=passed*", "*SKIPPED*--fc-eval or EVAL_MODE=1*"])
    else:
        assert result.ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize(
    ("option", "value"),
    [
        pytest.param("fc_concurrency", "none", id="concurrency-is-a-word"),
        pytest.param("fc_concurrency", "0", id="concurrency-is-zero"),
        pytest.param("fc_min_coverage", "2", id="coverage-above-one"),
        pytest.param("fc_gate", "open", id="unknown-gate"),
    ],
)
def test_an_ini_value_that_cannot_be_used(
    pytester: pytest.Pytester, option: str, value: str
) -> None:
    weather(pytester, RIGHT)

    result = pytester.runpytest("--fc-eval", "-o", f"{option}={value}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{option}*{value}*"])


def test_fc_eval_without_a_case_file(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest("--fc-eval")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*no case file*"])


def test_no_domain(pytester: pytest.Pytester) -> None:
    weather(pytester, RIGHT)
    (pytester.path / "conftest.py").unlink()

    result = pytester.runpytest("--fc-eval")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*pytest_fc_domain*"])


@WORKERS
def test_validate_says_that_all_is_well(pytester: pytest.Pytester, workers: str) -> None:
    weather(pytester, RIGHT, asks_oslo("w-2", f"{OSLO}\n# again"))

    result = pytester.runpytest_subprocess("--fc-validate", "-n", workers)

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["case_validation=passed", "domain_validation=passed"])
    assert not (pytester.path / ".fc_eval").exists()


def test_validate_lists_faults(pytester: pytest.Pytester) -> None:
    weather(pytester, case("w-1", "one", ("get_wether", {"city": "Oslo"})))

    result = pytester.runpytest("--fc-validate")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*cases/weather.jsonl:1: *get_wether*"])


def test_a_domain_hook_that_fails(pytester: pytest.Pytester) -> None:
    weather(pytester, RIGHT)
    pytester.makeconftest("def pytest_fc_domain(config):\n    return 1 / 0\n")

    result = pytester.runpytest("--fc-eval")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*conftest.py:2: pytest_fc_domain failed: ZeroDivisionError*"])


def test_a_misspelt_decision_is_known_before_the_runs(pytester: pytest.Pytester) -> None:
    weather(pytester, asks_oslo("w-wrong", 'get_weather {"city": "Bergen"}'))
    pytester.runpytest("--fc-eval", "--fc-write-review", "-q")
    review = pytester.path / "baselines" / "review.json"
    review.write_text(review.read_text().replace('"decision":null', '"decision":"model_faul"'))

    result = pytester.runpytest("--fc-lock-baseline")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*review.json*", "*model_fault, judge_misjudgment, golden_error*"])


def test_commands_find_the_suite_from_a_subfolder(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    weather(pytester, RIGHT)
    pytester.makeini("[pytest]\n")
    (pytester.path / "docs").mkdir()
    monkeypatch.chdir(pytester.path / "docs")

    result = pytester.runpytest("--fc-validate")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["case_validation=passed"])


def test_a_loopback_model_needs_its_key_as_well(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SOME_KEY", raising=False)
    weather(pytester, RIGHT)
    without_agent(pytester)
    pytester.makepyprojecttoml(
        '[tool.fc_eval]\nmodel = "near"\n[tool.fc_eval.models.near]\n'
        'base_url = "http://127.0.0.1:9/v1"\napi_key_env = "SOME_KEY"\n'
    )

    result = pytester.runpytest()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*SOME_KEY*"])


def test_a_model_file_that_is_not_there(pytester: pytest.Pytester) -> None:
    weather(pytester, RIGHT)
    without_agent(pytester)
    pytester.makepyprojecttoml(
        '[tool.fc_eval]\nmodel = "mine"\n'
        '[tool.fc_eval.models.mine]\ngguf = "no_such_package:m.gguf"\n'
    )

    result = pytester.runpytest("--fc-eval")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*fix: *"])


def test_offline_commands_need_no_model(pytester: pytest.Pytester) -> None:
    weather(pytester, RIGHT)
    without_agent(pytester)

    result = pytester.runpytest("--fc-validate")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["case_validation=passed"])


def test_a_line_that_cannot_be_read_is_no_gap(pytester: pytest.Pytester) -> None:
    suite = weather(
        pytester,
        *(asks_oslo(f"fc-d1-00{number}", f"Oslo, number {number}?") for number in (1, 2, 3)),
    )
    lines = suite.read_text().splitlines()
    suite.write_text("\n".join([lines[0], lines[1][:-5], lines[2]]) + "\n")

    result = pytester.runpytest("--fc-validate")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "cases/weather.jsonl:2: " in result.stderr.str()
    assert "cases/weather.jsonl:3: " not in result.stderr.str()
