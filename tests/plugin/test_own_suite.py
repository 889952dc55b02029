"""This repository's own suite and baseline: green as it is, red when anything gets worse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.plugin.support import last_run, read_json


def add_to_conftest(root: Path, text: str) -> None:
    with (root / "conftest.py").open("a", encoding="utf-8") as file:
        file.write(text)


def suite_lines(root: Path) -> list[dict[str, Any]]:
    text = (root / "cases" / "function_calling.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def write_lines(root: Path, lines: list[dict[str, Any]]) -> None:
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (root / "cases" / "function_calling.jsonl").write_text(text, encoding="utf-8")


def passing_case(root: Path) -> str:
    """A case that passes in the baseline, with a golden call that has parameters."""
    results = read_json(root / "baselines" / "baseline.json")["report"]["results"]
    return next(
        str(result["case_id"])
        for result in results
        if result["verdict"] == "PASS" and any(c["params"] for c in result["golden"]["calls"])
    )


def test_as_it_is_the_gate_is_green(pytester: pytest.Pytester, copy: Path) -> None:
    result = pytester.runpytest("--fc-eval")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["*gate baseline*", "gate=passed"])
    comparison = read_json(last_run(copy) / "report.json")["baseline_comparison"]
    assert comparison["comparable"] is True
    assert comparison["differing_hashes"] == []
    assert comparison["shared"] == 72


def test_the_baseline_is_what_was_locked(pytester: pytest.Pytester, copy: Path) -> None:
    result = pytester.runpytest("--fc-validate")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["baseline_validation=passed"])


def test_a_worse_agent_turns_it_red(pytester: pytest.Pytester, copy: Path) -> None:
    add_to_conftest(
        copy,
        "\nfrom fc_eval.client import embedded\n"
        "rules = embedded.next_message\n"
        "def silent_on_stock(messages, tools):\n"
        "    message = rules(messages, tools)\n"
        "    if 'check_stock' in str(message.get('tool_calls')):\n"
        "        return {'role': 'assistant', 'content': 'I do not know.'}\n"
        "    return message\n"
        "embedded.next_message = silent_on_stock\n",
    )

    result = pytester.runpytest_subprocess("--fc-eval")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*broken: *", "gate=failed * FAIL"])


def test_a_worse_case_turns_it_red(pytester: pytest.Pytester, copy: Path) -> None:
    name = passing_case(copy)
    lines = suite_lines(copy)
    (line,) = [line for line in lines if line["id"] == name]
    category = line["category"]
    # Every variant of the scenario gets the same wrong golden, so that the suite stays valid.
    for other in lines:
        if other["category"] == category:
            other["golden"]["calls"] = other["golden"]["calls"][:1] * 2
    write_lines(copy, lines)
    suite = read_json(copy / "cases" / "suite.json")
    suite["categories"][category]["tools"] = [c["tool"] for c in line["golden"]["calls"]]
    (copy / "cases" / "suite.json").write_text(json.dumps(suite, ensure_ascii=False))

    result = pytester.runpytest("--fc-eval")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*the cases differ*", "*changed: 3: *", "gate=failed * FAIL"])


def test_a_worse_judge_turns_it_red(pytester: pytest.Pytester, copy: Path) -> None:
    add_to_conftest(
        copy,
        "\nfrom fc_eval.judge import whitelist\n"
        "whitelist.is_excused = lambda *args, **kwargs: False\n"
        "from fc_eval.judge import taxonomy\n"
        "taxonomy.is_excused = whitelist.is_excused\n",
    )

    run = pytester.runpytest_subprocess("--fc-eval")
    validation = pytester.runpytest_subprocess("--fc-validate")

    assert run.ret == pytest.ExitCode.TESTS_FAILED
    assert validation.ret == pytest.ExitCode.USAGE_ERROR
    validation.stderr.fnmatch_lines(["*judged again, has other verdicts*"])


SCENARIO = {
    "dimension": "D1",
    "category": "order_of_a_friend",
    "context": {"db_fixture": "standard", "notes": "One read, by the order's id."},
    "golden": {
        "calls": [{"tool": "get_order", "params": {"order_id": "W444"}}],
        "order_sensitive": False,
        "allowed_extra": [],
    },
    "negative": False,
    "skip": False,
    "skip_reason": None,
}
INSTRUCTIONS = (
    "请查一下订单 W444 的详细信息。",
    "W444 这单啥情况，帮看下",
    "帮我 check 一下 W444 这个 order 的 details",
)


def test_a_scenario_is_three_lines_and_one_entry(pytester: pytest.Pytester, copy: Path) -> None:
    """The whole expansion: lines, entry, validation, the new cases, a new lock."""
    old = (copy / "baselines" / "baseline.json").read_bytes()
    ids = ("fc-d1-019", "fc-d1-020", "fc-d1-021")
    new = [
        {"id": case_id, **SCENARIO, "instruction": text}
        for case_id, text in zip(ids, INSTRUCTIONS, strict=True)
    ]
    write_lines(copy, [*suite_lines(copy), *new])
    suite = read_json(copy / "cases" / "suite.json")
    suite["categories"]["order_of_a_friend"] = {
        "dimension": "D1",
        "first_id": ids[0],
        "tools": ["get_order"],
        "order_sensitive": False,
        "negative": False,
        "allowed_extra": [],
    }
    (copy / "cases" / "suite.json").write_text(json.dumps(suite, ensure_ascii=False))

    assert pytester.runpytest("--fc-validate").ret == pytest.ExitCode.OK
    fresh = pytester.runpytest("--fc-eval", "-m", "fc(category='order_of_a_friend')")
    fresh.assert_outcomes(passed=3, deselected=72)
    assert fresh.ret == pytest.ExitCode.OK
    assert pytester.runpytest("--fc-lock-baseline").ret == pytest.ExitCode.OK

    (archive,) = (copy / "baselines" / "history").glob("72_cases_*.json")
    assert archive.read_bytes() == old
    assert len(read_json(copy / "baselines" / "baseline.json")["report"]["results"]) == 75
    assert pytester.runpytest("--fc-validate").ret == pytest.ExitCode.OK
