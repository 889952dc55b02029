"""A line of a suite as a pytest item: selected, run, judged, shown."""

from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest

from tests.plugin.support import (
    BERGEN,
    BROKEN,
    OSLO,
    QUIET,
    RIGHT,
    WRONG,
    asks_oslo,
    case,
    last_run,
    read_json,
    weather,
)

WORKERS = pytest.mark.parametrize("workers", ["0", "2"], ids=["one-process", "two-workers"])


@WORKERS
def test_verdicts_become_outcomes(pytester: pytest.Pytester, workers: str) -> None:
    weather(pytester, RIGHT, WRONG, BROKEN, QUIET)

    result = pytester.runpytest_subprocess("--fc-eval", "-n", workers)

    # The gate fails by a report of its own: an agent error costs coverage.
    result.assert_outcomes(passed=2, failed=2, errors=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "FAIL cases/weather.jsonl:2 w-wrong: PARAM_WRONG_VALUE",
            "gate=failed 1 case FAIL; 1 case AGENT_ERROR*",
            "raw_run=.fc_eval/runs/*/raw_run.json",
            "report_path=.fc_eval/runs/*/report.json",
            "eval_fc=passed",
        ]
    )


def test_workers_change_no_verdict(pytester: pytest.Pytester) -> None:
    weather(pytester, RIGHT, WRONG, BROKEN, QUIET)
    reports = []
    for workers in ("0", "2"):
        pytester.runpytest_subprocess("--fc-eval", "-n", workers)
        folder = last_run(pytester.path)
        reports.append(read_json(folder / "report.json"))
        shutil.rmtree(folder)

    alone, together = reports
    assert alone["results"] == together["results"]
    assert alone["summary"] == together["summary"]
    assert alone["input_hashes"] == together["input_hashes"]


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        pytest.param(["-k", "w-right"], ["w-right"], id="by-id"),
        pytest.param(["-m", "d2"], ["w-two"], id="by-dimension"),
        pytest.param(["-m", "negative"], ["w-quiet"], id="negative-ones"),
        pytest.param(["-m", "fc(category='sun')"], ["w-two"], id="by-category"),
        pytest.param(["-m", "fc(id='w-right')"], ["w-right"], id="by-field-id"),
        pytest.param(["cases/weather.jsonl::w-two"], ["w-two"], id="by-node-id"),
        pytest.param(["cases"], ["w-right", "w-two", "w-quiet"], id="by-folder"),
    ],
)
def test_selection(pytester: pytest.Pytester, arguments: list[str], names: list[str]) -> None:
    weather(pytester, RIGHT, asks_oslo("w-two", "Oslo?", dimension="D2", category="sun"), QUIET)

    result = pytester.runpytest("--collect-only", "-q", "--strict-markers", *arguments)

    collected = [line for line in result.outlines if "::" in line]
    assert collected == [f"cases/weather.jsonl::{name}" for name in names]


def test_an_unknown_id_selects_nothing(pytester: pytest.Pytester) -> None:
    weather(pytester, RIGHT)

    result = pytester.runpytest("-k", "no-such-id")

    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert not (pytester.path / ".fc_eval").exists()


def test_a_fail_shows_what_to_act_on(pytester: pytest.Pytester) -> None:
    weather(pytester, RIGHT, WRONG)

    result = pytester.runpytest("--fc-eval")

    result.stdout.fnmatch_lines(
        ["*get_weather*", "*PARAM_WRONG_VALUE*", "cases/weather.jsonl:2: FAIL PARAM_WRONG_VALUE*"]
    )
    result.stdout.fnmatch_lines(["FAILED cases/weather.jsonl::w-wrong - FAIL PARAM_WRONG_VALUE"])


def test_an_agent_error_is_no_fail(pytester: pytest.Pytester) -> None:
    weather(pytester, BROKEN)

    result = pytester.runpytest("--fc-eval", "-v")

    result.assert_outcomes(errors=1, failed=1)
    result.stdout.fnmatch_lines(
        ["*w-broken AGENT_ERROR*", "AGENT_ERROR AGENT_EXCEPTION exception: *the wire is cut*"]
    )
    report = read_json(last_run(pytester.path) / "report.json")
    assert report["summary"]["accuracy"] is None
    assert report["coverage"]["agent_errors"] == 1


@WORKERS
def test_gate_none_measures(pytester: pytest.Pytester, workers: str) -> None:
    weather(pytester, RIGHT, WRONG, BROKEN)

    result = pytester.runpytest_subprocess("--fc-eval", "--fc-gate", "none", "-n", workers)

    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=1, xfailed=2)
    result.stdout.fnmatch_lines(["FAIL cases/weather.jsonl:2*", "gate=passed"])


def test_a_strict_xfail_ini_does_not_touch_gate_none(pytester: pytest.Pytester) -> None:
    weather(pytester, RIGHT, WRONG)

    result = pytester.runpytest("--fc-eval", "--fc-gate", "none", "-o", "xfail_strict=true")

    assert result.ret == pytest.ExitCode.OK


def test_last_failed_runs_the_failed_case(pytester: pytest.Pytester) -> None:
    weather(pytester, RIGHT, WRONG)
    pytester.runpytest("--fc-eval")

    result = pytester.runpytest("--fc-eval", "--lf")

    result.assert_outcomes(failed=1)


def test_stepwise_goes_on_where_it_stopped(pytester: pytest.Pytester) -> None:
    suite = weather(pytester, RIGHT, WRONG, QUIET)
    pytester.runpytest("--fc-eval", "--sw").assert_outcomes(passed=1, failed=1)
    suite.write_text(suite.read_text().replace("Bergen", "Oslo").replace("w-right", "w-first"))
    # The instructions must stay different, or the suite is faulty.
    suite.write_text(suite.read_text().replace(json.dumps(OSLO), json.dumps(f"{OSLO}\n# again"), 1))

    result = pytester.runpytest("--fc-eval", "--sw")

    result.assert_outcomes(passed=2)


@WORKERS
def test_stopping_at_the_first_fail_keeps_what_is_finished(
    pytester: pytest.Pytester, workers: str
) -> None:
    # Slow enough that no worker is through before it hears of the stop.
    slow = (asks_oslo(f"w-{n}", f"{OSLO}\nwait 0.2\n# {n}") for n in range(40))
    weather(pytester, RIGHT, WRONG, *slow)

    result = pytester.runpytest_subprocess("--fc-eval", "-x", "-n", workers)

    assert result.ret in (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED)
    raw = read_json(last_run(pytester.path) / "raw_run.json")
    assert raw["complete"] is False
    assert {"w-right", "w-wrong"} <= {trace["case_id"] for trace in raw["cases"]}
    result.stdout.fnmatch_lines(["gate=failed interrupted: *"])


def test_a_dead_worker_loses_only_its_case(pytester: pytest.Pytester) -> None:
    others = (asks_oslo(f"w-{n}", f"{OSLO}\n# {n}") for n in range(8))
    weather(pytester, *others, asks_oslo("w-dies", "die"))

    result = pytester.runpytest_subprocess("--fc-eval", "-n", "2")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    report = read_json(last_run(pytester.path) / "report.json")
    assert report["coverage"] == {
        "planned": 9,
        "judged": 8,
        "skipped": 0,
        "agent_errors": 0,
        "lost": 1,
    }
    result.stdout.fnmatch_lines(["gate=failed coverage 88.9% is below 100.0%: *1 lost*"])


def test_a_skipped_case_says_why(pytester: pytest.Pytester) -> None:
    weather(pytester, RIGHT, asks_oslo("w-later", "later", skip=True, skip_reason="not yet"))

    result = pytester.runpytest("--fc-eval", "-rs")

    result.assert_outcomes(passed=1, skipped=1)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["gate=passed", "*SKIPPED*cases/weather.jsonl*: not yet"])


def test_the_json_report_knows_case_and_verdict(pytester: pytest.Pytester) -> None:
    weather(pytester, RIGHT, WRONG, BROKEN)

    pytester.runpytest_subprocess(
        "--fc-eval", "-n", "2", "--json-report", "--json-report-file=out.json"
    )

    data = read_json(pytester.path / "out.json")
    tests = {test["nodeid"].partition("::")[2]: test for test in data["tests"]}
    assert {name: test["outcome"] for name, test in tests.items()} == {
        "w-right": "passed",
        "w-wrong": "failed",
        "w-broken": "error",
        "": "failed",
    }
    assert tests["w-wrong"]["metadata"]["fc_eval"]["taxonomies"] == ["PARAM_WRONG_VALUE"]
    assert tests["w-wrong"]["call"]["crash"]["lineno"] == 2


def test_junit_has_the_facts_as_properties(pytester: pytest.Pytester) -> None:
    weather(pytester, RIGHT, WRONG, BROKEN)

    pytester.runpytest("--fc-eval", "--junitxml=out.xml")

    suite = ElementTree.parse(pytester.path / "out.xml").getroot()[0]
    assert (suite.get("failures"), suite.get("errors")) == ("2", "1")
    facts = [json.loads(node.get("value", "")) for node in suite.iter("property")]
    assert [fact["verdicts"] for fact in facts] == [["PASS"], ["FAIL"], ["AGENT_ERROR"]]


def test_a_session_without_cases_is_silent(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_nothing_heavy_is_loaded():
            heavy = {"httpx", "jsonschema", "deepdiff", "msgspec", "tenacity", "dotenv"}
            assert not heavy & {name for name in sys.modules}
        """
    )

    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")

    result.assert_outcomes(passed=1)
    assert "fc-eval:" not in result.stdout.str()
    assert not (pytester.path / ".fc_eval").exists()


def test_only_named_files_are_case_files(pytester: pytest.Pytester) -> None:
    weather(pytester, RIGHT)
    (pytester.path / "data.jsonl").write_text("not a case\n")

    result = pytester.runpytest("--fc-eval")

    result.assert_outcomes(passed=1)


def test_fc_eval_leaves_other_tests_aside(pytester: pytest.Pytester) -> None:
    weather(pytester, RIGHT)
    pytester.makepyfile("def test_other(): assert False")

    assert pytester.runpytest("--fc-eval").ret == pytest.ExitCode.OK
    pytester.runpytest("--fc-eval", ".").assert_outcomes(passed=1)
    pytester.runpytest().assert_outcomes(passed=1, failed=1)


def test_other_plugins_and_conftests_fill_the_item(pytester: pytest.Pytester) -> None:
    weather(pytester, RIGHT, WRONG)
    (pytester.path / "cases" / "conftest.py").write_text(
        "import pytest\n"
        "@pytest.fixture(autouse=True)\n"
        "def each(request, fc_sandbox, fc_domain):\n"
        "    assert fc_domain.toolset.names() == ('get_weather', 'send_alert')\n"
        "    print('before', request.node.name, request.node.get_closest_marker('d1').name)\n"
        "    yield\n"
        "    print('after', request.node.name)\n"
        "@pytest.fixture(scope='module', autouse=True)\n"
        "def once():\n"
        "    print('opened')\n"
    )

    result = pytester.runpytest("--fc-eval", "-s")

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["*2 cases run in their turn*", "*opened", "before w-right d1", "*after w-right"]
    )


@pytest.mark.parametrize(
    ("definition", "scope"),
    [
        pytest.param("def agent(task): return use(task)", "session", id="sync-function"),
        pytest.param("async def agent(task): return await ause(task)", "session", id="async"),
        pytest.param("def agent(task): return use(task)", "function", id="sync-in-its-turn"),
        pytest.param(
            "async def agent(task): return await ause(task)", "function", id="async-in-its-turn"
        ),
    ],
)
def test_a_project_brings_its_agent(pytester: pytest.Pytester, definition: str, scope: str) -> None:
    weather(pytester, RIGHT, asks_oslo("w-again", "once more"))
    conftest = pytester.path / "conftest.py"
    source = conftest.read_text().partition("@pytest.fixture")[0]
    conftest.write_text(
        f"{source}\n"
        "def use(task):\n"
        "    assert task.call('get_weather', {'city': 'Oslo'})['sky'] == 'clear'\n"
        "async def ause(task):\n"
        "    assert (await task.acall('get_weather', {'city': 'Oslo'}))['sky'] == 'clear'\n"
        f"{definition}\n"
        f"@pytest.fixture(scope={scope!r})\n"
        "def fc_agent():\n"
        "    return agent\n"
    )

    result = pytester.runpytest("--fc-eval")

    result.assert_outcomes(passed=2)


def test_a_project_brings_its_sandbox(pytester: pytest.Pytester) -> None:
    weather(pytester, RIGHT, asks_oslo("w-again", f"{OSLO}\n# again"))
    with (pytester.path / "conftest.py").open("a") as file:
        file.write(
            "\nimport threading\n"
            "class Mine:\n"
            "    def __init__(self): self.thread = threading.get_ident(); self.calls = []\n"
            "    def call(self, name, arguments):\n"
            "        assert threading.get_ident() == self.thread\n"
            "        self.calls.append(name)\n"
            "        return {'mine': True}\n"
            "@pytest.fixture\n"
            "def fc_sandbox():\n"
            "    sandbox = Mine()\n"
            "    yield sandbox\n"
            "    assert sandbox.calls == ['get_weather']\n"
        )

    result = pytester.runpytest("--fc-eval")

    result.assert_outcomes(passed=2)
    raw = read_json(last_run(pytester.path) / "raw_run.json")
    assert [trace["calls"][0]["result"] for trace in raw["cases"]] == [{"mine": True}] * 2


def test_a_broken_fixture_is_an_agent_error(pytester: pytest.Pytester) -> None:
    weather(pytester, RIGHT)
    (pytester.path / "cases" / "conftest.py").write_text(
        "import pytest\n"
        "@pytest.fixture(autouse=True)\n"
        "def each():\n"
        "    raise RuntimeError('no database')\n"
    )

    result = pytester.runpytest("--fc-eval")

    result.assert_outcomes(errors=1, failed=1)
    raw = read_json(last_run(pytester.path) / "raw_run.json")
    assert "no database" in raw["cases"][0]["error"]["message"]


def test_calls_and_results_are_in_the_raw_run(pytester: pytest.Pytester) -> None:
    weather(
        pytester,
        case(
            "w-both",
            f'{OSLO}\nsend_alert {{"city": "Oslo", "text": "storm"}}\nno_such_tool {{}}',
            ("get_weather", {"city": "Oslo"}),
            ("send_alert", {"city": "Oslo", "text": "storm"}),
        ),
    )

    pytester.runpytest("--fc-eval")

    raw = read_json(last_run(pytester.path) / "raw_run.json")
    calls: list[dict[str, Any]] = raw["cases"][0]["calls"]
    assert [call["tool"] for call in calls] == ["get_weather", "send_alert", "no_such_tool"]
    assert calls[1]["result"] == "sent"
    assert calls[2]["error"]["code"] == "UNKNOWN_TOOL"
    assert BERGEN not in json.dumps(raw)


def test_an_agent_of_ones_own_is_never_labelled_with_a_model(pytester: pytest.Pytester) -> None:
    weather(pytester, RIGHT)
    pytester.makepyprojecttoml(
        '[tool.fc_eval]\nmodel = "big"\nagent = "weather-graph-2"\n'
        '[tool.fc_eval.models.big]\nbase_url = "https://model.invalid/v1"\n'
    )

    result = pytester.runpytest("--fc-eval")

    result.stdout.fnmatch_lines(["fc-eval: model weather-graph-2 (the project's fc_agent)*"])
    raw = read_json(last_run(pytester.path) / "raw_run.json")
    assert raw["model"] == {"agent": "fc_agent", "slug": "weather-graph-2"}
    assert raw["input_hashes"]["model_config"] is None


def test_git_overlooks_the_runs(pytester: pytest.Pytester) -> None:
    weather(pytester, RIGHT)

    pytester.runpytest("--fc-eval")

    assert (pytester.path / ".fc_eval" / ".gitignore").read_text() == "*\n"


def test_a_misspelt_identifier_is_told(pytester: pytest.Pytester) -> None:
    weather(pytester, RIGHT)
    conftest = pytester.path / "conftest.py"
    conftest.write_text(conftest.read_text().replace('known_ids={"city"', 'known_ids={"town"'))

    result = pytester.runpytest("--fc-validate")

    result.stdout.fnmatch_lines(["fc-eval: known_ids names 'town', and no tool has such*"])


def test_the_progress_ends_at_its_end(pytester: pytest.Pytester) -> None:
    weather(pytester, BROKEN)

    result = pytester.runpytest("--fc-eval")

    assert "200%]" not in result.stdout.str()
