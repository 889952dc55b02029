"""What is the verdict on one trace?

The one way into the judge. It asks no model and no clock, reads no file, and gives the same
judgement for the same case, trace and domain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fc_eval.domains.protocol import Domain
from fc_eval.judge.taxonomy import classify, rank
from fc_eval.records.case import Case
from fc_eval.records.codec import text_digest
from fc_eval.records.run import Status, Trace
from fc_eval.records.text import printable
from fc_eval.records.verdict import Judgement, Mismatch, Taxonomy, Verdict

JUDGE_REVISION = 1
"""Goes up with every change that can change a verdict, a code or a mismatch."""

_STILL_OPEN = (Taxonomy.CALL_MISSING, Taxonomy.CHAIN_INCOMPLETE)
_SHOWN_BEFORE_ERROR = 5


def judge_rules_digest() -> str:
    """SHA-256 that stands for the judge's behaviour, not for its source."""
    return text_digest(f"fc_eval judge rules, revision {JUDGE_REVISION}")


def judge_case(case: Case, trace: Trace, domain: Domain) -> Judgement:
    """Judge what an agent did against what its case asks for.

    Args:
        case: The case; its golden calls are taken to be valid in *domain*.
        trace: One run of that case.
        domain: The tools, the identifiers that exist, and the parameter that ties a chain.

    Returns:
        SKIP where case or trace was skipped, AGENT_ERROR where the run ended in one, both without
        codes; PASS where no code was found, else FAIL. What was already wrong before an agent
        error stands in the warnings.

    Raises:
        ValueError: *trace* is of another case.
    """
    if trace.case_id != case.id:
        raise ValueError(f"the trace is of case {trace.case_id!r}, not of {case.id!r}")
    if case.skip:
        return Judgement(verdict=Verdict.SKIP)
    if trace.status is Status.SKIPPED:
        return Judgement(verdict=Verdict.SKIP)
    findings = classify(case.golden, trace.calls, domain)
    if trace.status is Status.AGENT_ERROR:
        return Judgement(
            verdict=Verdict.AGENT_ERROR, warnings=tuple(_before_the_error(findings.mismatches))
        )
    codes = rank(mismatch.code for mismatch in findings.mismatches)
    return Judgement(
        verdict=Verdict.FAIL if codes else Verdict.PASS,
        taxonomies=codes,
        diff=findings.mismatches,
        warnings=findings.warnings,
    )


def _before_the_error(mismatches: Sequence[Mismatch]) -> Iterator[str]:
    # A call that is missing might still have come.
    made = [item for item in mismatches if item.code not in _STILL_OPEN]
    for mismatch in made[:_SHOWN_BEFORE_ERROR]:
        path = printable(mismatch.path, 80)
        yield f"before the error: {mismatch.code} {path}: {mismatch.message}"
    if len(made) > _SHOWN_BEFORE_ERROR:
        yield f"before the error: {len(made) - _SHOWN_BEFORE_ERROR} more faults"
