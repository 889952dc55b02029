"""The header, and the last section of a session that ran cases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fc_eval.plugin.stored import moved_verdicts
from fc_eval.records.report import CaseResult, ReportV1
from fc_eval.records.verdict import Judgement, Verdict
from fc_eval.report.failures import short_failure
from fc_eval.report.lines import report_lines

if TYPE_CHECKING:
    from fc_eval.plugin.running import Recording
    from fc_eval.plugin.session import Evaluation

FEW_FILES = 2


def header_lines(evaluation: Evaluation) -> list[str]:
    """What is about to be measured, without any address or key."""
    settings = evaluation.settings
    facts = [
        f"model {evaluation.model_name} ({evaluation.endpoint})",
        f"{len(evaluation.suite.cases)} cases",
        f"gate {evaluation.gate.value}",
    ]
    if evaluation.distributed:
        facts.append("1 in flight a worker")
    else:
        facts.append(f"concurrency {evaluation.concurrency}")
    lines = [f"fc-eval: {', '.join(facts)}"]
    lines.extend(f"fc-eval: {note}" for note in evaluation.suite.notes)
    if evaluation.needs_consent and not settings.consent:
        lines.append("fc-eval: the model is remote; without --fc-eval or EVAL_MODE=1 cases skip")
    if evaluation.stored is not None:
        lines.extend(f"fc-eval: {note}" for note in evaluation.stored.notes)
    dist = getattr(evaluation.config.option, "dist", "no")
    if evaluation.distributed and dist in ("loadfile", "loadscope"):
        lines.append(f"fc-eval: --dist {dist} gives each case file to one worker; load spreads it")
    return lines


def summary_lines(evaluation: Evaluation, recording: Recording) -> Iterator[str]:
    """Failures, figures, and the closing lines that scripts read."""
    report, artifacts = recording.report, recording.artifacts
    if report is None or artifacts is None or recording.gate is None:
        return
    verbose = evaluation.config.get_verbosity() > 0
    for result in report.results:
        if result.verdict is Verdict.FAIL:
            yield from _failure(evaluation, recording, result, verbose=verbose)
    yield from report_lines(report)
    if evaluation.stored is not None and evaluation.stored.report is not None:
        yield from _moved(evaluation.stored.report, report)
    if recording.log.discarded:
        yield f"{recording.log.discarded} runs were started ahead and thrown away"
    yield from recording.notes
    yield recording.gate.line
    yield f"raw_run={evaluation.near(artifacts.raw_run)}"
    yield f"report_path={evaluation.near(artifacts.report)}"
    yield "eval_fc=passed"


def _failure(
    evaluation: Evaluation, recording: Recording, result: CaseResult, *, verbose: bool
) -> Iterator[str]:
    where = evaluation.places[result.case_id]
    yield from map(evaluation.redact, short_failure(result, where=where))
    if not verbose or recording.run is None:
        return
    case = evaluation.by_id[result.case_id]
    for trace in recording.run.cases:
        if (trace.case_id, trace.repeat) == (result.case_id, result.repeat):
            judgement = Judgement(
                verdict=result.verdict,
                taxonomies=result.taxonomies,
                diff=result.diff,
                warnings=result.warnings,
            )
            lines = evaluation.suite.explain(case, trace, judgement, verbose=True)
            yield from map(evaluation.redact, lines)


def _moved(before: ReportV1, after: ReportV1) -> Iterator[str]:
    moved = moved_verdicts(before, after)
    if not moved:
        yield "replay: every verdict is as the run's own report has it"
    for was, new in moved:
        yield f"replay: {new.case_id} was {_said(was)}, is {_said(new)}"


def _said(result: CaseResult) -> str:
    return " ".join([result.verdict.value, *result.taxonomies])
