"""Ours beside the official checker: the same verdict and the same reason, on everything."""

from __future__ import annotations

import copy
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fc_eval.bfcl.entries import BfclEntry
from fc_eval.bfcl.error_types import ErrorType as E
from fc_eval.bfcl.prompt import build_messages
from fc_eval.bfcl.score import score
from fc_eval.bfcl.tools import build_tools
from tests.bfcl import support
from tests.bfcl.mutations import (
    broken_prompt_text,
    broken_tool_calls,
    mutate,
    prompt_text,
    right_calls,
    tool_calls,
)
from tests.bfcl.official import Official, as_result

pytestmark = pytest.mark.bfcl_official

SEED = 20260323
ROUNDS = 3
"""How many answers each entry gets, in each mode."""

IMPOSSIBLE = {
    "live_simple_106-63-0",
    "live_simple_112-68-0",
    "live_multiple_862-181-3",
    "live_multiple_964-207-0",
}
"""Entries whose labels no answer satisfies."""


KNOWN = [
    pytest.param("f(n=len('ab') + 4)", (True, None), E.DECODER_FAILED, id="a-call"),
    pytest.param("f(n=[6, 7][0] + 0)", (True, None), E.DECODER_FAILED, id="a-subscript"),
    pytest.param("f(n=(5 if 1 else 4) + 1)", (True, None), E.DECODER_FAILED, id="a-condition"),
    pytest.param("f(t='%d' % 5)", (True, None), E.DECODER_FAILED, id="a-format"),
    pytest.param("f(o={'a': 1} | {'b': 2})", (True, None), E.DECODER_FAILED, id="objects"),
    pytest.param("f(n=2 ** 20000 % 7 + 2)", (True, None), E.DECODER_FAILED, id="too-large"),
    pytest.param(f"f(x={10**400})", OverflowError, E.VALUE, id="no-float"),
    pytest.param("f(l=[5])", AttributeError, E.ELEMENT_TYPE, id="no-object"),
]
"""Where the two differ, by intent: each row of the table in README.md."""


def _outcome(valid: bool, error_type: str | None) -> tuple[bool, str | None]:
    return (valid, None if error_type is None else str(error_type))


def _drawn(entry: BfclEntry, rng: random.Random) -> list[tuple[str, Any]]:
    calls = right_calls(entry, rng)
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
        calls = mutate(entry, calls, rng)
    return calls


def _report(differences: list[Any], total: int) -> str:
    shown = "\n".join(map(repr, differences[:20]))
    return f"{len(differences)} of {total} answers are judged otherwise:\n{shown}"


def test_ground_truths_are_judged_alike(official: Official, all_entries: list[BfclEntry]) -> None:
    rng = random.Random(SEED)
    invalid = set()
    for entry in all_entries:
        calls = right_calls(entry, rng)
        sent, text = tool_calls(calls), prompt_text(calls)
        ours = score(entry, sent)
        assert _outcome(ours.valid, ours.error_type) == official.judge_tools(
            entry, as_result(sent)
        ), entry.id
        prompted = score(entry, None, text=text)
        assert _outcome(prompted.valid, prompted.error_type) == official.judge_prompt(
            entry, text
        ), entry.id
        assert ours.valid == prompted.valid, entry.id
        if entry.ground_truth is not None and not ours.valid:
            invalid.add(entry.id)
    assert invalid == IMPOSSIBLE


def test_changed_tool_calls_are_judged_alike(
    official: Official, all_entries: list[BfclEntry]
) -> None:
    rng = random.Random(SEED)
    differences: list[Any] = []
    reasons: Counter[str | None] = Counter()
    for _ in range(ROUNDS):
        for entry in all_entries:
            sent = broken_tool_calls(_drawn(entry, rng), rng)
            ours = score(entry, sent)
            try:
                theirs = official.judge_tools(entry, as_result(sent))
            except Exception as error:
                theirs = (False, f"raised {error!r}")
            reasons[theirs[1]] += 1
            if _outcome(ours.valid, ours.error_type) != theirs:
                differences.append((entry.id, sent, ours.error_type, theirs))
    total = ROUNDS * len(all_entries)
    assert not differences, _report(differences, total)
    assert len(reasons) >= 20


def test_changed_prompt_answers_are_judged_alike(
    official: Official, all_entries: list[BfclEntry]
) -> None:
    rng = random.Random(SEED)
    differences: list[Any] = []
    for _ in range(ROUNDS):
        for entry in all_entries:
            text = broken_prompt_text(_drawn(entry, rng), rng)
            ours = score(entry, None, text=text)
            try:
                theirs = official.judge_prompt(entry, text)
            except Exception as error:
                theirs = (False, f"raised {error!r}")
            if _outcome(ours.valid, ours.error_type) != theirs:
                differences.append((entry.id, text, ours.error_type, theirs))
    total = ROUNDS * len(all_entries)
    assert not differences, _report(differences, total)


def test_messages_without_calls_are_judged_alike(
    official: Official, all_entries: list[BfclEntry]
) -> None:
    for entry in all_entries[::7]:
        for text in ("", "I can't help with that.", "[]"):
            ours = score(entry, [], text=text)
            assert _outcome(ours.valid, ours.error_type) == official.judge_tools(entry, text)
        ours = score(entry, [])
        assert _outcome(ours.valid, ours.error_type) == official.judge_tools(entry, [])


def test_tools_are_shown_alike(official: Official, all_entries: list[BfclEntry]) -> None:
    style = official.enums.ModelStyle.OPENAI_COMPLETIONS
    mapping = official.mappings.GORILLA_TO_OPENAPI
    for entry in all_entries:
        functions = official.documents(entry)
        tools = official.handlers.convert_to_tool(functions, mapping, style)
        assert build_tools(entry.functions) == tools, entry.id


def test_prompts_are_written_alike(
    official: Official, all_entries: list[BfclEntry], data_folder: Path
) -> None:
    for entry in all_entries:
        messages = official.handlers.system_prompt_pre_processing_chat_model(
            copy.deepcopy(entry.question[0]), official.documents(entry), entry.id
        )
        assert build_messages(entry, data_folder) == messages, entry.id


@pytest.mark.parametrize(("text", "theirs", "ours"), KNOWN)
def test_known_differences_are_as_described(
    official: Official, text: str, theirs: tuple[bool, str | None] | type[Exception], ours: E
) -> None:
    types = {"n": "integer", "t": "string", "o": "dict", "x": "float"}
    properties: dict[str, Any] = {name: {"type": kind} for name, kind in types.items()}
    properties["l"] = {"type": "array", "items": {"type": "dict"}}
    allowed: dict[str, list[Any]] = {
        "n": [6, ""],
        "t": ["5", ""],
        "o": [{"a": [1], "b": [2]}, ""],
        "x": [1.0, ""],
        "l": ["", [{"a": [1]}]],
    }
    tool = support.function("f", properties)
    case = support.entry("simple_python", [tool], [{"f": allowed}])

    assert score(case, None, text=text).error_type is ours
    if isinstance(theirs, tuple):
        assert official.judge_prompt(case, text) == theirs
    else:
        with pytest.raises(theirs):
            official.judge_prompt(case, text)
