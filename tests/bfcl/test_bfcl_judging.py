"""Answers as traces: kept, shown and judged as they came."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fc_eval.agent.loop import first_messages
from fc_eval.bfcl.entries import BfclEntry
from fc_eval.bfcl.judging import PYTHON_TEXT, answer_of, judge_entry, trace_of
from fc_eval.bfcl.predictions import Answer
from fc_eval.bfcl.prompt import build_messages
from fc_eval.bfcl.protocol import PythonProtocol
from fc_eval.bfcl.score import plain_json, score
from fc_eval.bfcl.show import render_answer
from fc_eval.records.calls import Call
from fc_eval.records.flags import Flag
from fc_eval.records.run import Status, Trace
from fc_eval.records.verdict import Verdict
from tests.bfcl.mutations import broken_prompt_text, broken_tool_calls, mutate, right_calls
from tests.bfcl.support import Label, call, entry, function

SEED = 20260323
ADD = function("math.add", {"a": {"type": "integer"}, "b": {"type": "integer"}}, ["a"])
LABEL: Label = {"math.add": {"a": [1], "b": [2, ""]}}
CASE = entry("simple_python", [ADD], [LABEL])


def traced(answer: Answer | None, case: BfclEntry = CASE) -> Trace:
    """The trace of an answer, as it comes back from a file."""
    return Trace.from_dict(json.loads(json.dumps(trace_of(case.id, answer).to_dict())))


def drawn(entries: list[BfclEntry]) -> Iterator[tuple[BfclEntry, Answer]]:
    rng = random.Random(SEED)
    for case in entries:
        calls = right_calls(case, rng)
        for _ in range(rng.choice((0, 1, 2))):
            calls = mutate(case, calls, rng)
        yield case, Answer(calls=tuple(broken_tool_calls(calls, rng)))
        yield case, Answer(calls=None, text=broken_prompt_text(calls, rng))
        yield case, Answer(calls=(), text="I can't help with that.")


def test_a_trace_is_judged_as_its_answer(all_entries: list[BfclEntry]) -> None:
    for case, answer in drawn(all_entries[::5]):
        trace = traced(answer, case)
        scored = score(case, answer.calls, text=answer.text)

        judgement = judge_entry(case, trace)

        assert judgement.taxonomy == scored.error_type, (case.id, answer)
        lines = render_answer(case, trace, judgement)
        assert "".join(lines).isprintable(), (case.id, answer)


def test_prompts_are_those_of_the_leaderboard(
    all_entries: list[BfclEntry], data_folder: Path
) -> None:
    class Asked:
        system_prompt = instruction = ""

        def __init__(self, case: BfclEntry) -> None:
            self.messages = [dict(message) for message in case.question[0]]

    for case in all_entries[::7]:
        task: Any = Asked(case)
        messages = first_messages(task, PythonProtocol(case, data_folder))
        assert messages == build_messages(case, data_folder), case.id


@pytest.mark.parametrize(
    ("calls", "code"),
    [
        pytest.param([call("math_add", a=1)], None, id="as-text"),
        pytest.param([{"name": "math_add", "arguments": {"a": 1}}], None, id="as-an-object"),
        pytest.param(
            [{"name": "math_add", "arguments": '{"a": 1, }'}],
            "ast_decoder:decoder_failed",
            id="malformed",
        ),
        pytest.param(
            [{"name": "math_add", "arguments": '{"a": 1}'}, {"name": "math_add", "arguments": "x"}],
            "ast_decoder:decoder_failed",
            id="malformed-in-the-second",
        ),
        pytest.param(
            [{"name": "math_add", "arguments": '{"a": 2, "a": 1}'}],
            None,
            id="of-two-equal-keys-the-last",
        ),
        pytest.param(
            [{"name": None, "arguments": "{}"}],
            "simple_function_checker:wrong_func_name",
            id="no-name",
        ),
    ],
)
def test_calls_over_a_tools_api(calls: list[dict[str, Any]], code: str | None) -> None:
    assert judge_entry(CASE, traced(Answer(calls=tuple(calls)))).taxonomy == code


def test_absent_arguments_are_no_json() -> None:
    absent = Call(
        index=0, step=1, call_id=None, tool="math_add", arguments={}, flags=(Flag.ARGS_EMPTY,)
    )
    trace = Trace(case_id=CASE.id, status=Status.COMPLETED, calls=(absent,))

    assert judge_entry(CASE, trace).taxonomy == "ast_decoder:decoder_failed"


def test_a_text_in_prompt_mode_is_kept_with_its_calls() -> None:
    answer = Answer(calls=None, text="[math.add(a=1, b=(2, 3))]")

    trace = traced(answer)

    assert answer_of(trace) == answer
    assert PYTHON_TEXT in trace.flags
    assert [(item.tool, item.arguments) for item in trace.calls] == [
        ("math.add", {"a": 1, "b": [2, 3]})
    ]


def test_an_entry_without_an_answer_is_not_measured() -> None:
    assert judge_entry(CASE, traced(None)).verdict is Verdict.AGENT_ERROR


def test_a_trace_of_another_entry_is_refused() -> None:
    with pytest.raises(ValueError, match="not of"):
        judge_entry(CASE, Trace(case_id="other", status=Status.COMPLETED))


def test_what_is_allowed_stands_beside_what_came() -> None:
    trace = traced(Answer(calls=(call("math_add", a=3, c=True), call("math_add", a=1))))

    lines = render_answer(CASE, trace, judge_entry(CASE, trace), width=60)

    assert lines == [
        "FAIL simple_function_checker:wrong_count",
        "instruction: What now?",
        "expected: one call of the one tool",
        "calls[0] math_add            │ actual[1] math_add",
        "  a: 1                       │   a: 1",
        "  b: 2 or ''                 │",
        "                             │ actual[0] math_add",
        "                             │   a: 3",
        "                             │   c: true",
        " ≠ simple_function_checker:wrong_count actual[0]: no call is",
        " ≠  expected here",
        "final text: none",
    ]


@pytest.mark.parametrize("levels", [99, 101, 5_000])
def test_a_deep_argument_is_shown_as_far_as_it_can_be(levels: int) -> None:
    value: Any = 1
    for _ in range(levels):
        value = [value]

    shown = json.dumps(plain_json(value))

    assert ("nested deeper" in shown) is (levels > 100)
