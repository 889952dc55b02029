"""`ReportV1`: a judged run, and what is counted from it.

Says what a report is made of and how the runs of a repeated case fold into one outcome. How the
numbers are worked out is asked in `fc_eval.report.build`, how they are shown in
`fc_eval.report.lines`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fc_eval.records.case import Dimension
from fc_eval.records.codec import JsonValue, Plain
from fc_eval.records.run import Fault, InputHashes, RunError
from fc_eval.records.verdict import Mismatch, Taxonomy, Verdict

REPORT_SCHEMA = "ReportV1"
TOP = 5
"""How many places a top list has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """One judged run of one case.

    `repeat` counts the runs of a case from 1. `case_digest` binds the result to the case's line,
    `trace_digest` to the behaviour that was judged (see `fc_eval.calibration.review`).
    `dimension` is None for the entries of a benchmark, whose `category` is their subset.
    `golden` is the golden object of the case line, or what an entry allows; its `calls` name a
    `tool` each. `actual` holds the calls as they were made: tool, arguments, error code, and the
    raw text where no object could be read from it.
    `flags` are those of the run and of its calls, sorted.
    """

    case_id: str
    repeat: int = 1
    case_digest: str
    trace_digest: str
    dimension: Dimension | None
    category: str
    verdict: Verdict
    taxonomy: str | None = None
    taxonomies: tuple[str, ...] = ()
    golden: Mapping[str, JsonValue]
    actual: tuple[Mapping[str, JsonValue], ...] = ()
    diff: tuple[Mismatch, ...] = ()
    flags: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    fault: Fault | None = None
    error: RunError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictCounts:
    """How many cases, or runs, got each verdict."""

    PASS: int = 0
    FAIL: int = 0
    SKIP: int = 0
    AGENT_ERROR: int = 0

    @classmethod
    def of(cls, verdicts: Iterable[Verdict]) -> VerdictCounts:
        """Count *verdicts*."""
        counts = dict.fromkeys((verdict.value for verdict in Verdict), 0)
        for verdict in verdicts:
            counts[verdict.value] += 1
        return cls(**counts)

    @property
    def scored(self) -> int:
        """PASS + FAIL: what an accuracy is a share of."""
        return self.PASS + self.FAIL

    @property
    def accuracy(self) -> float | None:
        """PASS / (PASS + FAIL), None where nothing was scored."""
        return self.PASS / self.scored if self.scored else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Verdicts and accuracy of a group of cases, or of their runs."""

    verdict_counts: VerdictCounts
    scored_count: int
    accuracy: float | None

    @classmethod
    def of(cls, verdicts: Iterable[Verdict]) -> Score:
        """The score of *verdicts*."""
        counts = VerdictCounts.of(verdicts)
        return cls(verdict_counts=counts, scored_count=counts.scored, accuracy=counts.accuracy)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureCount:
    """A place in the list of the most frequent primary codes."""

    taxonomy: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCount:
    """A place in the list of the tools that most failed cases have to do with."""

    tool: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The headline, counted over cases: a repeated case counts once.

    `dimensions` always has all four; those without cases, as all are in a benchmark, count 0.
    `taxonomy_counts` counts the primary code of each FAIL; `worst_tools` counts, once a case, the
    registered tools that a FAIL case's golden names or that its failed runs called.
    """

    verdict_counts: VerdictCounts
    scored_count: int
    accuracy: float | None
    dimensions: Mapping[str, Score]
    taxonomy_counts: Mapping[str, int]
    top_failures: tuple[FailureCount, ...]
    worst_tools: Mapping[str, int]
    top_worst_tools: tuple[ToolCount, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What became of the planned cases.

    `planned` is the sum of the others. A case is lost where it has no outcome: its worker died,
    or the session ended before all its runs were made.
    """

    planned: int
    judged: int
    skipped: int
    agent_errors: int
    lost: int

    @property
    def judged_share(self) -> float | None:
        """Judged cases as a share of the planned, unskipped ones; None where there are none."""
        due = self.planned - self.skipped
        return self.judged / due if due else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A share with its 95 % Wilson interval; all three None where nothing was scored."""

    passed: int
    scored: int
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatStatistics:
    """What repeated runs say of a model; only runs with PASS or FAIL enter.

    `runs` scores single runs. `pass_at_k` and `pass_hat_k` are keyed by k, "1" to the number of
    repeats; None where no case has k scored runs. A case is stable where all its runs have the
    same verdict, PASS or FAIL, and flaky where both occur.
    """

    repeats: int
    runs: Score
    pass_at_k: Mapping[str, float | None]
    pass_hat_k: Mapping[str, float | None]
    stable_pass: int
    stable_fail: int
    flaky: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What the run took; None where unknown, never 0.

    `requests` counts answered requests and failed tries. `seconds` is the sum over all runs, not
    the time on the wall. `partial` is true where a sum lacks some runs.
    """

    prompt_tokens: int | None
    completion_tokens: int | None
    total_tokens: int | None
    requests: int | None
    seconds: float | None
    partial: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedApart:
    """Runs that a reader wants to see beside the accuracy, though none of them changes it.

    `repeated_requests` counts failed tries. `finish_length_fails` are FAILs cut off by the token
    limit, `unclear_fault_fails` FAILs where model and server cannot be told apart.
    `text_encoded_abstentions` are PASSes without a call in which a call was written as text.
    `faults` counts FAILs and AGENT_ERRORs by whose fault they are, `agent_error_codes` the
    AGENT_ERRORs by code.
    """

    repeated_requests: int
    finish_length_fails: int
    unclear_fault_fails: int
    text_encoded_abstentions: int
    faults: Mapping[str, int]
    agent_error_codes: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """How sure the headline is, and what it took. Intervals are over cases, not runs.

    `repeats` is None where every case ran once.
    """

    accuracy: Estimate
    dimensions: Mapping[str, Estimate]
    repeats: RepeatStatistics | None
    cost: Cost
    counted_apart: CountedApart


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A report against an earlier one, most often the baseline's.

    `comparable` says whether the two headline accuracies may be compared; `reasons` why not.
    `differing_hashes` names all input hashes that differ, `differing_settings` the request
    settings. The lists of cases and the numbers below them rest on the cases that both reports
    scored and whose lines are the same: `fixed` failed before and pass now, `broken` the other
    way round, `still_failing` fail in both. `new`, `gone` and `changed` say how the suite differs;
    `unmeasured` are unchanged cases that one of the two did not score.
    `mcnemar_p` is the exact two-sided p-value of the flips, `smallest_change` the smallest change
    of accuracy that so many cases can show at 5 %; None where they can show none.
    """

    baseline_id: str | None
    baseline_run_id: str
    comparable: bool
    reasons: tuple[str, ...]
    differing_hashes: tuple[str, ...]
    differing_settings: tuple[str, ...]
    accuracy: float | None
    baseline_accuracy: float | None
    shared: int
    shared_accuracy: float | None
    shared_baseline_accuracy: float | None
    fixed: tuple[str, ...]
    broken: tuple[str, ...]
    still_failing: tuple[str, ...]
    new: tuple[str, ...]
    gone: tuple[str, ...]
    changed: tuple[str, ...]
    unmeasured: tuple[str, ...]
    mcnemar_p: float | None
    smallest_change: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOutcome:
    """What the runs of one case come to.

    `verdict` is None where some runs are missing and none of the others failed. `taxonomy` is the
    code of highest precedence among the primary codes of its failed runs.
    """

    case_id: str
    case_digest: str
    dimension: Dimension | None
    verdict: Verdict | None
    taxonomy: str | None
    results: tuple[CaseResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportV1(Plain):
    """A judged run.

    `model` and `run_id` are the run's. `complete` is true where every selected case was run to
    its end; `suite_size` is the number of cases of the suite, selected or not.
    `results` stand in the order of the selection, then of the repeats. `metrics` are BFCL's.
    `review` counts the decisions on its FAILs, and the share of misjudgments among those decided.
    """

    schema: str = REPORT_SCHEMA
    run_id: str
    started_at: str
    complete: bool
    suite_size: int
    repeats: int
    model: Mapping[str, JsonValue]
    input_hashes: InputHashes
    summary: Summary
    coverage: Coverage
    results: tuple[CaseResult, ...]
    statistics: Statistics
    metrics: Mapping[str, JsonValue] | None = None
    review: Mapping[str, JsonValue] | None = None
    baseline_comparison: Comparison | None = None

    @property
    def model_slug(self) -> str:
        """The slug of the model that was run."""
        return str(self.model.get("slug", ""))

    def outcomes(self) -> dict[str, CaseOutcome]:
        """The outcome of every case that has a result, by id, in the order of the results."""
        return fold_results(self.results, repeats=self.repeats)


def fold_verdicts(verdicts: Iterable[Verdict], *, runs: int) -> Verdict | None:
    """The verdict of a case that was to run *runs* times.

    It passes when all runs pass. One AGENT_ERROR leaves it unmeasured; else one FAIL settles that
    it does not pass; else a missing run leaves it without a verdict (None).
    """
    seen = tuple(verdicts)
    for decisive in (Verdict.AGENT_ERROR, Verdict.FAIL, Verdict.SKIP):
        if decisive in seen:
            return decisive
    return Verdict.PASS if len(seen) >= runs else None


def fold_results(results: Iterable[CaseResult], *, repeats: int) -> dict[str, CaseOutcome]:
    """Fold results into one outcome a case, by case id, in the order of first results."""
    grouped: dict[str, list[CaseResult]] = {}
    for result in results:
        grouped.setdefault(result.case_id, []).append(result)
    return {case_id: _outcome(group, repeats) for case_id, group in grouped.items()}


def _outcome(results: list[CaseResult], repeats: int) -> CaseOutcome:
    first = results[0]
    codes = {result.taxonomy for result in results if result.verdict is Verdict.FAIL}
    return CaseOutcome(
        case_id=first.case_id,
        case_digest=first.case_digest,
        dimension=first.dimension,
        verdict=fold_verdicts((result.verdict for result in results), runs=repeats),
        taxonomy=min((code for code in codes if code is not None), key=_precedence, default=None),
        results=tuple(results),
    )


_PRECEDENCE = {code.value: place for place, code in enumerate(Taxonomy)}


def _precedence(code: str) -> tuple[int, str]:
    # BFCL's error types are codes too; they have no precedence among themselves.
    return (_PRECEDENCE.get(code, len(_PRECEDENCE)), code)
