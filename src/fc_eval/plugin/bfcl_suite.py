"""The suite of BFCL entries: subsets of the shipped data, each entry with tools of its own.

An entry is asked once, in the conversation that it comes with; its calls are recorded and not run.
An agent of the project's own gets `{"status": "recorded"}` for each call instead of a result, or
the usual error for one that names no tool or breaks its schema; all its calls count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fc_eval.agent.loop import ModelAgent
from fc_eval.agent.profile import ModelProfile, ToolMode
from fc_eval.agent.protocol import ChatClient
from fc_eval.agent.task import Task
from fc_eval.bfcl.data import find_data
from fc_eval.bfcl.entries import PIPELINES, BfclEntry, load_entries, subsets_of
from fc_eval.bfcl.judging import answer_of, golden_of, judge_entry, scoring_digest
from fc_eval.bfcl.metrics import Scored, build_metrics
from fc_eval.bfcl.protocol import PROMPT_FORMAT, PythonProtocol, check_prompt_texts
from fc_eval.bfcl.score import score
from fc_eval.bfcl.show import render_answer
from fc_eval.bfcl.tools import build_tools, tool_name
from fc_eval.domains.protocol import Domain, Tool, ToolKind, Toolset
from fc_eval.errors import ConfigError
from fc_eval.plugin.options import Settings
from fc_eval.plugin.suite import Setting
from fc_eval.records.codec import JsonValue, digest
from fc_eval.records.report import CaseResult, ReportV1
from fc_eval.records.run import InputHashes, RawRunV1, Status, Trace
from fc_eval.records.verdict import Judgement
from fc_eval.report.build import assemble_report, result_of, traces_of
from fc_eval.report.faults import fault_in

if TYPE_CHECKING:
    import pytest

    from fc_eval.plugin.session import Evaluation

FOLDER = "bfcl"
"""The folder that the node ids of entries start with; there is none of that name."""


class Recorder:
    """A sandbox that runs nothing."""

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> JsonValue:
        """Say that the call was taken down."""
        return {"status": "recorded"}


@dataclass(frozen=True, kw_only=True, eq=False)
class BfclSuite:
    """Subsets of BFCL, in the order in which they were named."""

    data: Path
    subsets: Mapping[str, Sequence[BfclEntry]]
    tools: Mapping[str, Sequence[Mapping[str, Any]]]
    """The tools of each entry in the OpenAI form, by its id; converted once a process."""

    fixtures = ("fc_agent",)

    @cached_property
    def files(self) -> Mapping[str, Sequence[tuple[int, BfclEntry]]]:
        """The entries by file, with their line numbers."""
        return {
            shown_file(name): list(enumerate(entries, start=1))
            for name, entries in self.subsets.items()
        }

    @cached_property
    def cases(self) -> Sequence[BfclEntry]:
        """All entries, subset after subset."""
        return [entry for entries in self.subsets.values() for entry in entries]

    @property
    def notes(self) -> Sequence[str]:
        """How many entries of which subset."""
        sizes = ", ".join(f"{name} {len(entries)}" for name, entries in self.subsets.items())
        return [f"BFCL v4: {sizes}"]

    def claims(self, path: Path) -> bool:
        """Never: the entries' file is none of the project's."""
        return False

    def has_file(self, shown: str) -> bool:
        """Whether the session is about the subset of this file."""
        return shown in self.files

    def collect(self, session: pytest.Session, evaluation: Evaluation) -> list[pytest.Collector]:
        """One node that has all subsets."""
        from fc_eval.plugin.collect import BfclFolder

        return [
            BfclFolder.from_parent(
                session,
                path=session.config.rootpath,
                evaluation=evaluation,
                places={
                    shown_file(name): self.data / Path(shown_file(name)).name
                    for name in self.subsets
                },
            )
        ]

    def check_profile(self, profile: ModelProfile) -> None:
        """Refuse BFCL's prompt mode where its texts are not at hand.

        Raises:
            ConfigError: The package has no prompt texts.
        """
        if _is_prompted(profile) and self.cases:
            check_prompt_texts(self.data, self.cases[0])

    def setting_of(self, case: BfclEntry) -> Setting:
        """The entry's own tools, and its conversation."""
        return Setting(domain=self._domain(case), messages=[dict(m) for m in case.question[0]])

    def _domain(self, case: BfclEntry) -> Domain:
        functions = [tool["function"] for tool in self.tools[case.id]]
        return Domain(
            toolset=Toolset(
                Tool(name=function["name"], kind=ToolKind.WRITE, function=function)
                for function in functions
            ),
            sandbox_factory=lambda case: Recorder(),
        )

    @cached_property
    def _by_id(self) -> Mapping[str, BfclEntry]:
        return {entry.id: entry for entry in self.cases}

    async def answer(self, client: ChatClient, profile: ModelProfile, task: Task) -> str | None:
        """Ask the model once."""
        protocol = None
        if _is_prompted(profile):
            protocol = PythonProtocol(self._by_id[task.case_id], self.data)
        return await ModelAgent(client, profile, protocol=protocol).answer_once(task)

    def hashes(self, model_config: str | None) -> InputHashes:
        """The hashes of entries, tools, model and scoring; BFCL has nothing of the others."""
        return InputHashes(
            cases=self._cases_digest,
            tools=self._tools_digest,
            model_config=model_config,
            judge_rules=scoring_digest(),
        )

    @cached_property
    def _cases_digest(self) -> str:
        return digest([entry.digest for entry in self.cases])

    @cached_property
    def _tools_digest(self) -> str:
        return digest([self.tools[entry.id] for entry in self.cases])

    def judge(self, case: BfclEntry, trace: Trace) -> Judgement:
        """The official verdict."""
        return judge_entry(case, trace)

    def report(self, run: RawRunV1) -> ReportV1:
        """Judge a run, and work out the metrics of its answers; with repeats, of every run's.

        Raises:
            ArtifactError: It has an entry that the suite does not have.
        """
        pairs = list(traces_of(run, self.cases))
        hashes = replace(run.input_hashes, judge_rules=scoring_digest())
        if len(self.cases) == run.selection.suite_size:
            hashes = self.hashes(run.input_hashes.model_config)
        return assemble_report(
            run,
            [_result(entry, trace) for entry, trace in pairs],
            input_hashes=hashes,
            tools=self._tool_names,
            metrics=build_metrics(
                [
                    _scored(entry, trace)
                    for entry, trace in pairs
                    if trace.status is Status.COMPLETED
                ]
            ),
        )

    @cached_property
    def _tool_names(self) -> frozenset[str]:
        return frozenset(
            tool_name(function["name"]) for entry in self.cases for function in entry.functions
        )

    def explain(
        self, case: BfclEntry, trace: Trace, judgement: Judgement, *, verbose: bool
    ) -> list[str]:
        """What the entry allows and what was called, side by side."""
        return render_answer(case, trace, judgement, verbose=verbose)

    def fields_of(self, case: BfclEntry) -> dict[str, Any]:
        """Id and subset."""
        return {"id": case.id, "subset": case.subset, "category": case.subset}

    def tags_of(self, case: BfclEntry) -> Sequence[str]:
        """The subset, and the pipelines that it is part of."""
        return [case.subset, *(name for name, of in PIPELINES.items() if case.subset in of)]


def open_bfcl_suite(settings: Settings) -> BfclSuite:
    """Load the subsets that the session is about.

    Raises:
        ConfigError: A name is none of BFCL's, or the data is missing or not as shipped.
    """
    names = subsets_of(settings.bfcl)
    data = find_data(settings.environ, settings.bfcl_data)
    subsets = {name: load_entries(name, data) for name in names}
    tools = {}
    for name, entries in subsets.items():
        for entry in entries:
            try:
                tools[entry.id] = build_tools(entry.functions)
            except ValueError as error:
                raise ConfigError(
                    f"{entry.id}: {error}",
                    path=data / Path(shown_file(name)).name,
                    fix="mend the entry's functions",
                ) from None
    return BfclSuite(data=data, subsets=subsets, tools=tools)


def shown_file(subset: str) -> str:
    """The file of a subset in node ids."""
    return f"{FOLDER}/BFCL_v4_{subset}.json"


def _is_prompted(profile: ModelProfile) -> bool:
    return profile.tool_mode is ToolMode.PROMPT and profile.prompt_format == PROMPT_FORMAT


def _scored(entry: BfclEntry, trace: Trace) -> Scored:
    answer = answer_of(trace)
    return Scored(entry=entry, answer=answer, score=score(entry, answer.calls, text=answer.text))


def _result(entry: BfclEntry, trace: Trace) -> CaseResult:
    judgement = judge_entry(entry, trace)
    lacking = bool(entry.labels) and not trace.calls
    return result_of(
        entry,
        trace,
        judgement,
        golden=golden_of(entry),
        fault=fault_in(trace, judgement, lacking=lacking),
    )
