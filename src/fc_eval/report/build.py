"""A run and its cases → `ReportV1`: judge every trace, keep what a reader needs of it.

What is counted from the results is asked in `fc_eval.report.tally`. Everything is worked out from
the arguments: the same run gives the same report, whenever and wherever it is built.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Protocol, TypeVar

from fc_eval.calibration.review import trace_digest
from fc_eval.domains.protocol import DEFAULT_LINK, Domain
from fc_eval.errors import ArtifactError
from fc_eval.judge.verdict import judge_case
from fc_eval.records.calls import Call
from fc_eval.records.case import AnyCase, Case
from fc_eval.records.codec import JsonValue
from fc_eval.records.report import CaseResult, ReportV1, fold_results
from fc_eval.records.run import Fault, InputHashes, RawRunV1, Status, Trace
from fc_eval.records.verdict import Judgement, Verdict
from fc_eval.report.faults import fault_of, golden_flags
from fc_eval.report.inputs import hash_inputs
from fc_eval.report.tally import coverage_of, statistics_of, summary_of

AnyCaseT = TypeVar("AnyCaseT", bound=AnyCase)


class Judge(Protocol):
    """What says of one trace whether it passes."""

    def __call__(self, case: Case, trace: Trace, domain: Domain) -> Judgement:
        """The verdict on *trace*, a run of *case* in *domain*."""
        ...


Blame = Callable[[Case, Trace, Judgement], Fault | None]


def build_report(
    run: RawRunV1,
    cases: Sequence[Case],
    domain: Domain,
    *,
    judge: Judge = judge_case,
    blame: Blame = fault_of,
) -> ReportV1:
    """Judge every trace of *run* and count the verdicts.

    Args:
        run: The traces; where it is not complete, the report covers what there is.
        cases: The cases of the suite, at least those that the run selected.
        domain: What the cases play in, with the schemas and identifiers to judge by.
        judge: Another judge than `fc_eval.judge_case`.
        blame: Says whose fault a FAIL or an AGENT_ERROR is.

    Returns:
        The report, not yet compared with a baseline. Its hashes name what the verdicts rest on:
        the run's own inputs, and in their place the cases, tools, identifiers and rules that it
        is judged by now.

    Raises:
        ArtifactError: The run has a case that *cases* does not have, or a run of a case twice.
    """
    results = [
        judge_run(case, trace, domain, judge=judge, blame=blame)
        for case, trace in traces_of(run, cases)
    ]
    hashes = _input_hashes(run, cases, domain)
    return assemble_report(run, results, input_hashes=hashes, tools=domain.toolset)


def assemble_report(
    run: RawRunV1,
    results: Sequence[CaseResult],
    *,
    input_hashes: InputHashes,
    tools: Container[str],
    metrics: Mapping[str, JsonValue] | None = None,
) -> ReportV1:
    """Count the verdicts on a run, of whatever kind its cases are.

    Args:
        run: The traces that were judged.
        results: One for each of them, in the order of `traces_of`.
        input_hashes: What the verdicts rest on.
        tools: The names of the registered tools.
        metrics: Figures of a benchmark of its own, kept as they are.
    """
    outcomes = tuple(fold_results(results, repeats=run.repeats).values())
    return ReportV1(
        run_id=run.run_id,
        started_at=run.started_at,
        complete=run.complete,
        suite_size=run.selection.suite_size,
        repeats=run.repeats,
        model=run.model,
        input_hashes=input_hashes,
        summary=summary_of(outcomes, tools),
        coverage=coverage_of(run.selection.case_ids, outcomes),
        results=tuple(results),
        statistics=statistics_of(run, outcomes, results),
        metrics=metrics,
    )


def judge_run(
    case: Case, trace: Trace, domain: Domain, *, judge: Judge = judge_case, blame: Blame = fault_of
) -> CaseResult:
    """Judge one run of one case, and keep what a reader of the report needs of it."""
    judgement = judge(case, trace, domain)
    return result_of(
        case,
        trace,
        judgement,
        golden=case.to_dict()["golden"],
        fault=blame(case, trace, judgement),
        flags=golden_flags(case, trace) if judgement.verdict is Verdict.FAIL else (),
        link=domain.link,
    )


def result_of(
    case: AnyCase,
    trace: Trace,
    judgement: Judgement,
    *,
    golden: Mapping[str, JsonValue],
    fault: Fault | None,
    flags: Sequence[str] = (),
    link: str = DEFAULT_LINK,
) -> CaseResult:
    """What a reader of the report needs of one judged run.

    Args:
        case: What was asked.
        trace: The run.
        judgement: The verdict on it.
        golden: What was expected, as plain JSON.
        fault: Whose fault a FAIL or an AGENT_ERROR is.
        flags: Notes beside those of the run and of its calls.
        link: What ties a confirm to its request.
    """
    return CaseResult(
        case_id=case.id,
        repeat=trace.repeat,
        case_digest=case.digest,
        trace_digest=trace_digest(trace, link=link),
        dimension=case.dimension,
        category=case.category,
        verdict=judgement.verdict,
        taxonomy=judgement.taxonomy,
        taxonomies=judgement.taxonomies,
        golden=golden,
        actual=tuple(_actual(call) for call in trace.calls),
        diff=judgement.diff,
        flags=_flags(trace, flags),
        warnings=(*trace.warnings, *judgement.warnings),
        fault=fault,
        error=trace.error if judgement.verdict is Verdict.AGENT_ERROR else None,
    )


def _input_hashes(run: RawRunV1, cases: Sequence[Case], domain: Domain) -> InputHashes:
    now = hash_inputs(cases, domain, run.input_hashes.model_config)
    whole_suite = len(cases) == run.selection.suite_size
    return replace(
        run.input_hashes,
        cases=now.cases if whole_suite else run.input_hashes.cases,
        tools=now.tools,
        database=now.database,
        judge_rules=now.judge_rules,
    )


def traces_of(run: RawRunV1, cases: Sequence[AnyCaseT]) -> Iterator[tuple[AnyCaseT, Trace]]:
    """The traces of *run*, each with its case, in the order of the selection and of the repeats.

    Raises:
        ArtifactError: The run has a case that *cases* does not have, or a run of a case twice.
    """
    known = {case.id: case for case in cases}
    for case_id, traces in _traces_by_case(run, known).items():
        yield from ((known[case_id], trace) for trace in traces)


def _traces_by_case(run: RawRunV1, known: Mapping[str, AnyCase]) -> dict[str, list[Trace]]:
    traces: dict[str, list[Trace]] = {case_id: [] for case_id in run.selection.case_ids}
    for case_id in chain(traces, (trace.case_id for trace in run.cases)):
        if case_id not in known or case_id not in traces:
            raise ArtifactError(
                f"the run {run.run_id} has a case {case_id!r} that the suite, or the run's own "
                "selection, does not have",
                fix="judge the run with the case files that it was made with",
            )
    for trace in sorted(run.cases, key=lambda trace: trace.repeat):
        group = traces[trace.case_id]
        if group and group[-1].repeat == trace.repeat:
            raise ArtifactError(
                f"the run {run.run_id} has run {trace.repeat} of case {trace.case_id!r} twice",
                fix="restore the file as it was written",
            )
        group.append(trace)
    for case_id, group in traces.items():
        # A case that says it is to be skipped is an outcome by itself, no run is needed for it.
        if known[case_id].skip and not group:
            group.append(Trace(case_id=case_id, status=Status.SKIPPED))
    return traces


def _actual(call: Call) -> dict[str, JsonValue]:
    shown: dict[str, JsonValue] = {"tool": call.tool, "arguments": call.arguments}
    if call.arguments is None:
        shown["raw"] = call.arguments_raw
    shown["error"] = None if call.error is None else call.error.code
    return shown


def _flags(trace: Trace, more: Sequence[str]) -> tuple[str, ...]:
    on_calls = chain.from_iterable(call.flags for call in trace.calls)
    return tuple(sorted({*trace.flags, *on_calls, *more}))
