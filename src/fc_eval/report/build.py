"""A run and its cases → `ReportV1`: judge every trace, keep what a reader needs of it.

What is counted from the results is asked in `fc_eval.report.tally`. Everything is worked out from
the arguments: the same run gives the same report, whenever and wherever it is built.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Protocol

from fc_eval.calibration.review import trace_digest
from fc_eval.domains.protocol import Domain
from fc_eval.errors import ArtifactError
from fc_eval.judge.verdict import judge_case
from fc_eval.records.calls import Call
from fc_eval.records.case import Case
from fc_eval.records.codec import JsonValue
from fc_eval.records.report import CaseResult, ReportV1, fold_results
from fc_eval.records.run import Fault, InputHashes, RawRunV1, Status, Trace
from fc_eval.records.verdict import Judgement, Verdict
from fc_eval.report.faults import fault_of, golden_flags
from fc_eval.report.inputs import hash_inputs
from fc_eval.report.tally import coverage_of, statistics_of, summary_of


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
    metrics: Mapping[str, JsonValue] | None = None,
) -> ReportV1:
    """Judge every trace of *run* and count the verdicts.

    Args:
        run: The traces; where it is not complete, the report covers what there is.
        cases: The cases of the suite, at least those that the run selected.
        domain: What the cases play in, with the schemas and identifiers to judge by.
        judge: Another judge than `fc_eval.judge_case`.
        blame: Says whose fault a FAIL or an AGENT_ERROR is.
        metrics: Figures of a benchmark of its own, kept as they are.

    Returns:
        The report, not yet compared with a baseline. Its hashes name what the verdicts rest on:
        the run's own inputs, and in their place the cases, tools, identifiers and rules that it
        is judged by now.

    Raises:
        ArtifactError: The run has a case that *cases* does not have, or a run of a case twice.
    """
    known = {case.id: case for case in cases}
    traces = _traces_by_case(run, known)
    results = tuple(
        judge_run(known[case_id], trace, domain, judge=judge, blame=blame)
        for case_id in run.selection.case_ids
        for trace in traces[case_id]
    )
    outcomes = tuple(fold_results(results, repeats=run.repeats).values())
    return ReportV1(
        run_id=run.run_id,
        started_at=run.started_at,
        complete=run.complete,
        suite_size=run.selection.suite_size,
        repeats=run.repeats,
        model=run.model,
        input_hashes=_input_hashes(run, cases, domain),
        summary=summary_of(outcomes, domain.toolset),
        coverage=coverage_of(run.selection.case_ids, outcomes),
        results=results,
        statistics=statistics_of(run, outcomes, results),
        metrics=metrics,
    )


def judge_run(
    case: Case, trace: Trace, domain: Domain, *, judge: Judge = judge_case, blame: Blame = fault_of
) -> CaseResult:
    """Judge one run of one case, and keep what a reader of the report needs of it."""
    judgement = judge(case, trace, domain)
    return CaseResult(
        case_id=case.id,
        repeat=trace.repeat,
        case_digest=case.digest,
        trace_digest=trace_digest(trace, link=domain.link),
        dimension=case.dimension,
        category=case.category,
        verdict=judgement.verdict,
        taxonomy=judgement.taxonomy,
        taxonomies=judgement.taxonomies,
        golden=case.to_dict()["golden"],
        actual=tuple(_actual(call) for call in trace.calls),
        diff=judgement.diff,
        flags=_flags(case, trace, judgement),
        warnings=(*trace.warnings, *judgement.warnings),
        fault=blame(case, trace, judgement),
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


def _traces_by_case(run: RawRunV1, known: Mapping[str, Case]) -> dict[str, list[Trace]]:
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


def _flags(case: Case, trace: Trace, judgement: Judgement) -> tuple[str, ...]:
    flags = {*trace.flags, *chain.from_iterable(call.flags for call in trace.calls)}
    if judgement.verdict is Verdict.FAIL:
        flags.update(golden_flags(case, trace))
    return tuple(sorted(flags))
