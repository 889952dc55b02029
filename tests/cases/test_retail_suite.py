"""The repository's own suite: valid, fair, and what its README says of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from fc_eval.cases.check import Suite, validate
from fc_eval.cases.coverage import coverage_matrix, insert_matrix, order_states
from fc_eval.cases.parse import string_leaves
from fc_eval.judge.verdict import judge_case
from fc_eval.records.calls import Call
from fc_eval.records.case import Case, Dimension, ParamRule
from fc_eval.records.codec import load_schema, schema_errors
from fc_eval.records.run import Status, Trace
from fc_eval.records.verdict import Verdict
from tests.domains.support import ROOT, retail

CASES = "cases/function_calling.jsonl"
SUITE = "cases/suite.json"
README = "cases/README.md"


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def suite() -> Suite:
    return validate(files=[(CASES, text(CASES))], suite_text=(SUITE, text(SUITE)), domain=retail())


def scenarios(suite: Suite) -> Iterator[list[Case]]:
    """The variants of each scenario, in order."""
    for category in dict.fromkeys(case.category for case in suite.cases):
        yield [case for case in suite.cases if case.category == category]


def play(case: Case) -> Trace:
    """Golden as a perfect agent would run it: each confirm names what its request answered."""
    sandbox = retail().make_sandbox(case)
    calls: list[Call] = []
    action_id = None
    for index, golden in enumerate(case.golden.calls):
        arguments = dict(golden.params)
        if "action_id" in arguments:
            arguments["action_id"] = action_id
        result: Any = sandbox.call(golden.tool, arguments)
        action_id = result.get("action_id", action_id)
        calls.append(
            Call(
                index=index,
                step=index + 1,
                call_id=f"call-{index}",
                tool=golden.tool,
                arguments=arguments,
                result=result,
            )
        )
    return Trace(case_id=case.id, status=Status.COMPLETED, calls=tuple(calls), final_text="Done.")


def test_it_has_the_size_that_it_promises(suite: Suite) -> None:
    assert suite.totals == dict.fromkeys(Dimension, 18)
    assert suite.negatives == 12
    assert [len(variants) for variants in scenarios(suite)] == [3] * 24


def test_every_golden_runs_without_an_error_and_passes(suite: Suite) -> None:
    for case in suite.cases:
        judgement = judge_case(case, play(case), retail())

        assert judgement.verdict is Verdict.PASS, (case.id, judgement)
        assert not judgement.warnings, case.id


def test_every_tool_rule_and_order_state_is_used(suite: Suite) -> None:
    calls = [call for case in suite.cases for call in case.golden.calls]

    assert {call.tool for call in calls} == set(retail().toolset.names())
    assert {rule for call in calls for rule in (call.param_rules or {}).values()} == set(ParamRule)
    assert {state for case in suite.cases for state in order_states(case, retail())} == {
        "pending",
        "shipped",
        "delivered",
        "cancelled",
    }


def says_number(seen: str, value: float) -> bool:
    """Whether *value* stands in *seen* by itself (the 2 of W442 does not), or as a word for two."""
    alone = re.search(rf"(?<![\w.]){re.escape(str(value))}(?![0-9.])", seen, re.ASCII)
    return alone is not None or (value == 2 and "两件" in seen)


def test_golden_asks_only_for_what_each_customer_wrote(suite: Suite) -> None:
    """Identifiers, quoted texts and numbers stand in the instruction, if no read can tell them."""
    for case in suite.cases:
        seen = case.instruction
        for call, made in zip(case.golden.calls, play(case).calls, strict=True):
            for name, value in call.params.items():
                if name.endswith("_id") and call.rule(name) is ParamRule.EXACT:
                    assert value in seen, (case.id, name)
                elif call.rule(name) in (ParamRule.CONTAINS, ParamRule.NORMALIZED_STR):
                    assert all(leaf in seen for leaf in string_leaves(value)), (case.id, name)
                elif isinstance(value, int | float):
                    assert says_number(seen, value), (case.id, name)
            seen += json.dumps(made.result, ensure_ascii=False)


def test_the_variants_are_written_in_three_ways(suite: Suite) -> None:
    # Identifiers such as W441 are no English, nor are one-letter sizes and the like.
    words = [
        [len(re.findall(r"[A-Za-z]{3,}", case.instruction)) for case in variants]
        for variants in scenarios(suite)
    ]

    for canonical, colloquial, mixed in words:
        assert mixed > max(canonical, colloquial)


def test_both_schemas_accept_it() -> None:
    for line in text(CASES).splitlines():
        assert not schema_errors("CaseV1", json.loads(line))
    assert not schema_errors("SuiteV1", json.loads(text(SUITE)))


@pytest.mark.parametrize("name", ["CaseV1", "SuiteV1"])
def test_the_schemas_are_schemas(name: str) -> None:
    import jsonschema

    jsonschema.Draft202012Validator.check_schema(load_schema(name))


def test_the_readme_has_the_tables_of_the_cases(suite: Suite) -> None:
    readme = text(README)

    assert insert_matrix(readme, coverage_matrix(suite.cases, retail())) == readme


def test_the_case_in_the_readme_is_one_of_the_suite(suite: Suite) -> None:
    shown = re.search(r"```json\n(.*?)```", text(README), re.DOTALL)

    assert shown is not None
    assert Case.from_dict(json.loads(shown[1])) in suite.cases
