"""What a line of a case file tells by itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fc_eval.cases.parse import load_cases, parse_file
from fc_eval.errors import FaultsError
from fc_eval.records.case import ParamRule
from fc_eval.records.codec import schema_errors
from tests.cases.support import READ, entry, golden, lines, without

CALLS_NOTHING = golden(allowed_extra=[])


def problems(text: str) -> list[str]:
    _, found = parse_file(text, "cases.jsonl")
    return [f"{fault.line}: {fault.problem}" for fault in found]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(entry(), id="a-call-of-a-read"),
        pytest.param(entry(id="fc-d1-007"), id="an-id-that-carries-its-dimension"),
        pytest.param(entry(id="Ünïcode_9.b[x]"), id="any-id-that-is-a-node-id"),
        pytest.param(entry(golden=CALLS_NOTHING, negative=True), id="a-case-without-any-call"),
        pytest.param(
            entry(golden=golden(allowed_extra=["get_order"])), id="a-case-that-may-read-first"
        ),
        pytest.param(
            entry(golden=golden(READ, allowed_extra=[]), negative=True), id="a-negative-with-calls"
        ),
        pytest.param(entry(skip=True, skip_reason="Broken."), id="a-skipped-case"),
        pytest.param(
            entry(golden=golden({**READ, "param_rules": {"order_id": "contains"}})), id="a-rule"
        ),
        pytest.param(entry(golden=golden({**READ, "param_rules": {}})), id="no-rule-written-out"),
    ],
)
def test_a_right_line_is_read_and_written_back(data: dict[str, Any]) -> None:
    located, found = parse_file(lines(data), "cases.jsonl")

    assert not found
    assert [(line, case.to_dict()) for line, case in located] == [(1, data)]
    assert not schema_errors("CaseV1", data)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        *(
            pytest.param(without(name, entry()), f"{name}: the field is missing", id=f"no-{name}")
            for name in entry()
        ),
        pytest.param(entry(note="x"), "note: unknown field", id="a-tenth-field"),
        pytest.param(entry(id=7), "id: 7 is no string", id="an-id-that-is-a-number"),
        pytest.param(entry(id=" "), "id: it is empty", id="an-empty-id"),
        pytest.param(entry(id="a::b"), "id: 'a::b' has '::'", id="an-id-that-splits-a-node-id"),
        pytest.param(entry(id="a b"), "id: 'a b' has", id="an-id-with-a-blank"),
        pytest.param(entry(id="a\tb"), "id: 'a\\tb' has", id="an-id-with-a-control-character"),
        pytest.param(entry(id="a\u3000b"), "has '::'", id="an-id-with-a-wide-blank"),
        pytest.param(entry(id="fc-d5-001"), "not of the form", id="a-dimension-that-is-none"),
        pytest.param(entry(id="fc-d1-1"), "not of the form", id="a-number-of-one-digit"),
        pytest.param(
            entry(id="fc-d2-001"), "dimension: 'D1', but the id", id="a-dimension-not-of-the-id"
        ),
        pytest.param(entry(dimension="D5"), "dimension: 'D5' is none", id="no-such-dimension"),
        pytest.param(entry(dimension=["D1"]), "is none", id="a-list-of-dimensions"),
        pytest.param(entry(category=""), "category: it is empty", id="an-empty-category"),
        pytest.param(entry(instruction=" \n"), "instruction: it is empty", id="no-instruction"),
        pytest.param(entry(context=None), "context: None is no object", id="no-context"),
        pytest.param(
            entry(context={"db_fixture": "standard"}), "context.notes: the field", id="no-notes"
        ),
        pytest.param(
            entry(context={"db_fixture": "standard", "notes": " "}),
            "context.notes: it is empty",
            id="blank-notes",
        ),
        pytest.param(
            entry(context={"db_fixture": "large", "notes": "-"}),
            "context.db_fixture: there is no 'large'",
            id="no-such-fixtures",
        ),
        pytest.param(
            entry(context={"db_fixture": "standard", "notes": "-", "seed": 1}),
            "context.seed: unknown field",
            id="more-context",
        ),
        pytest.param(entry(negative=0), "negative: 0 is no boolean", id="zero-is-not-false"),
        pytest.param(entry(skip="no"), "skip: 'no' is no boolean", id="a-word-is-not-false"),
        pytest.param(entry(skip=True), "skip_reason: a skipped", id="skipped-for-nothing"),
        pytest.param(
            entry(skip=True, skip_reason=" "), "a skipped case says", id="skipped-for-a-blank"
        ),
        pytest.param(entry(skip_reason="x"), "skip_reason: a case that is not", id="a-reason-only"),
        pytest.param(entry(golden=[]), "golden: [] is no object", id="a-golden-that-is-a-list"),
        pytest.param(
            entry(golden={"calls": [READ]}), "golden.order_sensitive: the field", id="no-ordering"
        ),
        pytest.param(
            entry(golden=golden(READ, calls={})),
            "golden.calls: {} is no list",
            id="calls-are-a-list",
        ),
        pytest.param(
            entry(golden=golden(READ, order_sensitive=None)), "no boolean", id="ordering-is-boolean"
        ),
        pytest.param(entry(golden=golden(READ, any=1)), "golden.any: unknown", id="more-golden"),
        pytest.param(
            entry(golden=golden(READ, allowed_extra=None)),
            "golden.allowed_extra: None is no list",
            id="a-whitelist-that-is-null",
        ),
        pytest.param(
            entry(golden=golden(READ, allowed_extra=["a", "a"])),
            "golden.allowed_extra: 'a' stands twice",
            id="a-whitelist-with-a-name-twice",
        ),
        pytest.param(
            entry(golden=golden(READ, allowed_extra=[1])), "[1] is no list of", id="a-number-in-it"
        ),
        pytest.param(
            entry(golden=golden("x")), "golden.calls[0]: 'x' is no object", id="a-name-only"
        ),
        pytest.param(
            entry(golden=golden(READ, {"tool": "get_order"})),
            "golden.calls[1].params: the field is missing",
            id="a-call-without-params",
        ),
        pytest.param(
            entry(golden=golden({**READ, "kind": "read"})),
            "golden.calls[0].kind: unknown field",
            id="a-call-with-more",
        ),
        pytest.param(
            entry(golden=golden({**READ, "params": []})), "params: [] is no object", id="a-list"
        ),
        pytest.param(
            entry(golden=golden({**READ, "tool": ""})), "tool: it is empty", id="an-empty-tool"
        ),
        pytest.param(
            entry(golden=golden({**READ, "param_rules": None})),
            "param_rules: None is no object",
            id="rules-that-are-null",
        ),
        pytest.param(
            entry(golden=golden({**READ, "param_rules": {"order_id": "regex"}})),
            "param_rules.order_id: unknown rule 'regex'",
            id="no-such-rule",
        ),
        pytest.param(
            entry(golden=golden({**READ, "param_rules": {"order": "any"}})),
            "param_rules.order: there is a rule",
            id="a-rule-for-nothing",
        ),
        pytest.param(entry(golden=golden()), "does not state it", id="no-word-on-reads"),
        pytest.param(
            entry(golden=golden(allowed_extra=[])), "negative: a case that may", id="not-negative"
        ),
        pytest.param(
            entry(golden=golden(READ), negative=True),
            "golden.allowed_extra: a negative case",
            id="a-negative-case-that-states-no-whitelist",
        ),
        pytest.param(
            entry(golden=golden(allowed_extra=["get_order"]), negative=True),
            "golden.allowed_extra: a negative case without calls allows reads",
            id="a-negative-case-that-may-read",
        ),
        pytest.param(
            entry(golden=golden(allowed_extra=[], order_sensitive=True), negative=True),
            "golden.order_sensitive: true",
            id="no-calls-in-order",
        ),
    ],
)
def test_a_wrong_line_is_refused(data: dict[str, Any], problem: str) -> None:
    (found,) = problems(lines(data))

    assert problem in found


@pytest.mark.parametrize(
    ("value", "is_refused"),
    [
        pytest.param("", True, id="nothing"),
        pytest.param([], True, id="an-empty-list"),
        pytest.param({}, True, id="an-empty-object"),
        pytest.param({"a": ["x", ""]}, True, id="an-empty-text-inside"),
        pytest.param({"a": ["x", {}]}, False, id="an-empty-object-inside"),
        pytest.param("x", False, id="a-text"),
    ],
)
def test_what_must_be_contained_is_not_empty(value: object, is_refused: bool) -> None:
    call = {"tool": "find", "params": {"note": value}, "param_rules": {"note": "contains"}}

    found = problems(lines(entry(golden=golden(call))))

    assert ["params.note: an empty text" in problem for problem in found] == [True] * is_refused


def test_an_empty_text_is_fine_under_other_rules() -> None:
    call = {"tool": "find", "params": {"note": ""}, "param_rules": {"note": "normalized_str"}}

    assert not problems(lines(entry(golden=golden(call))))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", ["None: the file holds no case"], id="an-empty-file"),
        pytest.param("\n \n", ["None: the file holds no case"], id="a-blank-file"),
        pytest.param(lines(entry()).rstrip(), ["1: no newline at the end"], id="no-newline"),
        pytest.param(f"\ufeff{lines(entry())}", ["1: a byte order mark"], id="a-byte-order-mark"),
        pytest.param(f"{lines(entry())}\n", ["2: a blank line"], id="a-blank-line-at-the-end"),
        pytest.param(f"\n{lines(entry())}", ["1: a blank line"], id="a-blank-line-at-the-start"),
        pytest.param("[]\n", ["1: the line is no JSON object"], id="a-list"),
        pytest.param("{\n", ["1: this is no JSON"], id="half-an-object"),
        pytest.param('{"a": 1, "a": 1}\n', ["1: this is no JSON: the key 'a'"], id="a-key-twice"),
        pytest.param('{"a": NaN}\n', ["1: this is no JSON: NaN"], id="not-a-number"),
        pytest.param(lines(entry()).replace("\n", "\r\n"), [], id="line-ends-of-windows"),
        pytest.param(lines(entry(instruction="a\u2028b")), [], id="a-line-separator-in-a-string"),
    ],
)
def test_the_file_as_a_whole(text: str, expected: list[str]) -> None:
    found = problems(text)

    assert len(found) == len(expected)
    assert all(problem.startswith(start) for problem, start in zip(found, expected, strict=True))


def test_all_faults_of_all_lines_are_told_in_order() -> None:
    text = lines(entry(id=""), entry(), entry(skip=1, negative=1)) + "\noops\n"

    assert [problem.partition(":")[0] for problem in problems(text)] == ["1", "3", "3", "4", "5"]


def test_a_misspelt_field_is_told_its_name() -> None:
    data = {**without("category", entry()), "categroy": "look"}
    _, found = parse_file(lines(data), "cases.jsonl")

    assert "write 'category'" in [fault.fix for fault in found]


def test_cases_are_loaded_in_order(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(lines(entry(id="b"), entry(id="a")), encoding="utf-8")

    cases = load_cases(path)

    assert [case.id for case in cases] == ["b", "a"]
    assert cases[0].golden.calls[0].rule("order_id") is ParamRule.EXACT


@pytest.mark.parametrize(
    ("content", "line"),
    [
        pytest.param(b'{"id": 1}\n', 1, id="faults-of-lines"),
        pytest.param(json.dumps(entry()).encode() + b"\n\xff\n", 2, id="no-utf-8"),
        pytest.param(None, None, id="no-file"),
    ],
)
def test_a_file_that_can_not_be_loaded(
    tmp_path: Path, content: bytes | None, line: int | None
) -> None:
    path = tmp_path / "cases.jsonl"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(FaultsError) as caught:
        load_cases(path)

    assert {(fault.path, fault.line) for fault in caught.value.faults} == {(str(path), line)}
