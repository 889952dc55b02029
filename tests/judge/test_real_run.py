"""The verdicts on a real model's run stay what they are."""

from __future__ import annotations

import json
from pathlib import Path

import fc_eval
from fc_eval.records.case import Case
from fc_eval.records.run import Trace

DATA = Path(__file__).parent / "data" / "smollm2"
REPOSITORY = Path(__file__).parent.parent.parent


def judged(case: Case, trace: Trace, domain: fc_eval.Domain) -> list[str]:
    judgement = fc_eval.judge_case(case, trace, domain)
    places = [f"{mismatch.code} {mismatch.path}" for mismatch in judgement.diff]
    return [judgement.verdict.value, *judgement.taxonomies, *places]


def test_every_verdict_code_and_place_is_as_recorded() -> None:
    run = fc_eval.read_raw_run(DATA / "raw_run.json")
    recorded = json.loads((DATA / "verdicts.json").read_text(encoding="utf-8"))
    domain = fc_eval.load_domain(REPOSITORY / "fixtures")
    cases = fc_eval.load_cases(REPOSITORY / "cases" / "function_calling.jsonl")
    # A case that was changed since asks something else.
    same = {
        case.id: case for case in cases if run.selection.case_digests.get(case.id) == case.digest
    }

    found = {
        trace.case_id: judged(same[trace.case_id], trace, domain)
        for trace in run.cases
        if trace.case_id in same
    }

    assert found == {case_id: recorded[case_id] for case_id in found}
    assert len(found) > len(run.cases) / 2
