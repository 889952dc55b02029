"""A stored run as a person reads it: each case with its verdict, its diff and its exchanges.

Everything that came from a model or a server is printable and cut short; `verbose` shows it whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from fc_eval.judge.diff import render_diff
from fc_eval.records.case import AnyCase
from fc_eval.records.codec import canonical
from fc_eval.records.report import CaseResult, ReportV1
from fc_eval.records.run import Exchange, RawRunV1, Trace
from fc_eval.records.text import printable
from fc_eval.records.verdict import Judgement, Verdict
from fc_eval.report.failures import agent_error_lines

SHORT, LONG = 200, 100_000


def show_lines(
    run: RawRunV1,
    report: ReportV1,
    find: Callable[[str], AnyCase | None],
    *,
    verbose: bool,
    explain: Callable[..., list[str]] = render_diff,
) -> Iterator[str]:
    """The cases of a run, one after the other.

    Args:
        run: The stored traces.
        report: Their verdicts; only the cases that it has a result for are shown.
        find: The case of an id, None where it is no longer as it was when the run was made.
        verbose: Show long texts whole.
        explain: Shows why a case is judged as it is; called as `render_diff`.
    """
    traces = {(trace.case_id, trace.repeat): trace for trace in run.cases}
    for result in report.results:
        trace = traces.get((result.case_id, result.repeat))
        if trace is not None:
            case = find(result.case_id)
            yield from _case(result, trace, case, verbose=verbose, explain=explain)


def _case(
    result: CaseResult,
    trace: Trace,
    case: AnyCase | None,
    *,
    verbose: bool,
    explain: Callable[..., list[str]],
) -> Iterator[str]:
    repeat = f" run {result.repeat}" if result.repeat > 1 else ""
    codes = " ".join(result.taxonomies)
    yield f"--- {result.case_id}{repeat} {result.verdict} {codes}".rstrip()
    if case is None:
        yield "  its line is not what it was when this run was made"
    elif result.verdict is Verdict.AGENT_ERROR:
        yield from (f"  {line}" for line in agent_error_lines(case.instruction, trace))
    elif result.verdict is not Verdict.SKIP:
        judgement = Judgement(
            verdict=result.verdict,
            taxonomies=result.taxonomies,
            diff=result.diff,
            warnings=result.warnings,
        )
        lines = explain(case, trace, judgement, verbose=verbose)
        yield from (f"  {line}" for line in lines)
    if result.flags:
        yield f"  flags: {', '.join(result.flags)}"
    for exchange in trace.exchanges:
        yield from _exchange(exchange, limit=LONG if verbose else SHORT)


def _exchange(exchange: Exchange, *, limit: int) -> Iterator[str]:
    text = partial(printable, limit=limit)
    facts = [
        f"request {exchange.step}",
        f"HTTP {exchange.status}",
        f"model {text(exchange.model or 'not named')}",
        f"finish {text(exchange.finish_reason or 'not named')}",
    ]
    if exchange.usage is not None and exchange.usage.total_tokens is not None:
        facts.append(f"{exchange.usage.total_tokens} tokens")
    yield f"  {', '.join(facts)}"
    for message in exchange.sent:
        yield f"    > {text(canonical(message))}"
    yield f"    < {text(exchange.body or '')}"
