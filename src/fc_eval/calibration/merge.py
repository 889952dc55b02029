"""Parts of one run → the run, such as the shards that several machines made of a suite.

Parts belong together where they were asked the same things of the same model. A case that two
parts measured is refused: choosing one of two answers would be a second draw.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fc_eval.errors import RefusedError
from fc_eval.records.run import RawRunV1, Status, Trace

JUDGE_ONLY = "judge_rules"
"""What parts may differ in: it shapes verdicts, not traces."""

Key = tuple[str, int]


def merge_runs(runs: Sequence[RawRunV1], *, order: Sequence[str], run_id: str) -> RawRunV1:
    """Put the parts of a run together.

    Where one part could not measure a case and another could, the measurement is taken.

    Args:
        runs: Two parts or more.
        order: All case ids of the suite, in their order.
        run_id: The id of the whole.

    Raises:
        RefusedError: The parts do not belong together, or measured the same case.
    """
    faults = _faults(runs)
    if faults:
        raise RefusedError(
            "the runs are no parts of one run:" + "".join(f"\n  - {fault}" for fault in faults),
            fix="name runs of one suite and one model that measured different cases",
        )
    digests = {i: d for run in runs for i, d in run.selection.case_digests.items()}
    selected = [case_id for case_id in order if case_id in digests]
    traces = _united(runs)
    cases = tuple(
        traces[case_id, repeat]
        for case_id in selected
        for repeat in range(1, runs[0].repeats + 1)
        if (case_id, repeat) in traces
    )
    return replace(
        runs[0],
        run_id=run_id,
        started_at=min(run.started_at for run in runs),
        finished_at=max((run.finished_at for run in runs if run.finished_at), default=None),
        complete=_is_complete(selected, traces, runs[0].repeats),
        selection=replace(
            runs[0].selection,
            case_ids=tuple(selected),
            case_digests={case_id: digests[case_id] for case_id in selected},
        ),
        cases=cases,
    )


def _faults(runs: Sequence[RawRunV1]) -> list[str]:
    if len(runs) < 2:
        return ["there is only one"]
    first = runs[0]
    faults = []
    for run in runs[1:]:
        names = [n for n in run.input_hashes.differing(first.input_hashes) if n != JUDGE_ONLY]
        if names:
            faults.append(f"{run.run_id} differs from {first.run_id} in: {', '.join(names)}")
        if run.model.get("slug") != first.model.get("slug"):
            faults.append(f"{run.run_id} is of {run.model.get('slug')}")
        if run.repeats != first.repeats:
            faults.append(f"{run.run_id} has {run.repeats} repeats, {first.run_id} {first.repeats}")
    measured: dict[Key, str] = {}
    for run in runs:
        for trace in run.cases:
            if trace.status is Status.COMPLETED:
                other = measured.setdefault((trace.case_id, trace.repeat), run.run_id)
                if other != run.run_id:
                    faults.append(f"{trace.case_id} was measured in {other} and in {run.run_id}")
    return faults


def _united(runs: Sequence[RawRunV1]) -> dict[Key, Trace]:
    united: dict[Key, Trace] = {}
    for trace in (trace for run in runs for trace in run.cases):
        key = trace.case_id, trace.repeat
        if key not in united or trace.status is Status.COMPLETED:
            united[key] = trace
    return united


def _is_complete(selected: Sequence[str], traces: Mapping[Key, Trace], repeats: int) -> bool:
    return all(
        _is_skipped(traces.get((case_id, 1)))
        or all((case_id, number) in traces for number in range(1, repeats + 1))
        for case_id in selected
    )


def _is_skipped(trace: Trace | None) -> bool:
    return trace is not None and trace.status is Status.SKIPPED
