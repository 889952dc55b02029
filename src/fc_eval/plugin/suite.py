"""`Suite`: what a session is about, of whatever kind its cases are.

Two kinds exist, the lines of case files and the entries of BFCL. Items, runner, run log and summary
know a suite by this protocol only, so that all that pytest can do with a case it can do with an
entry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from fc_eval.agent.profile import ModelProfile
from fc_eval.agent.protocol import ChatClient, Message
from fc_eval.agent.task import Task
from fc_eval.domains.protocol import Domain
from fc_eval.records.case import AnyCase
from fc_eval.records.report import ReportV1
from fc_eval.records.run import InputHashes, RawRunV1, Trace
from fc_eval.records.verdict import Judgement

if TYPE_CHECKING:
    import pytest

    from fc_eval.plugin.session import Evaluation

CaseT = TypeVar("CaseT", bound=AnyCase)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a case plays in: its domain, and the conversation to start from where it has one."""

    domain: Domain
    messages: Sequence[Message] | None = None


class Suite(Protocol[CaseT]):
    """The cases of a session, and all that depends on their kind."""

    @property
    def files(self) -> Mapping[str, Sequence[tuple[int, CaseT]]]:
        """The cases by file, as it is shown, with their line numbers."""
        ...

    @property
    def cases(self) -> Sequence[CaseT]:
        """All cases, file after file."""
        ...

    @property
    def fixtures(self) -> tuple[str, ...]:
        """The fixtures that every item of the suite asks for."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """Lines for the session's header."""
        ...

    def claims(self, path: Path) -> bool:
        """Whether *path* is a file that pytest finds and this session is about."""
        ...

    def has_file(self, shown: str) -> bool:
        """Whether the session is about the file of this name."""
        ...

    def collect(self, session: pytest.Session, evaluation: Evaluation) -> list[pytest.Collector]:
        """The nodes that pytest finds in no folder."""
        ...

    def check_profile(self, profile: ModelProfile) -> None:
        """Raise where the suite can't be run on the model.

        Raises:
            ConfigError: It can't.
        """
        ...

    def setting_of(self, case: CaseT) -> Setting:
        """What *case* plays in."""
        ...

    async def answer(self, client: ChatClient, profile: ModelProfile, task: Task) -> str | None:
        """Let a model work on a task."""
        ...

    def hashes(self, model_config: str | None) -> InputHashes:
        """What verdicts depend on, as it is now."""
        ...

    def judge(self, case: CaseT, trace: Trace) -> Judgement:
        """The verdict on one run of *case*."""
        ...

    def report(self, run: RawRunV1) -> ReportV1:
        """Judge a run of this suite.

        Raises:
            ArtifactError: It has a case that the suite does not have.
        """
        ...

    def explain(
        self, case: CaseT, trace: Trace, judgement: Judgement, *, verbose: bool
    ) -> list[str]:
        """Why a run is judged as it is, side by side with what was expected."""
        ...

    def fields_of(self, case: CaseT) -> dict[str, Any]:
        """What the marker `fc` says of *case*."""
        ...

    def tags_of(self, case: CaseT) -> Sequence[str]:
        """The markers without arguments."""
        ...
