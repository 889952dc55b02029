"""The suite of case files: checked lines, and the project's domain that they play in."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fc_eval.agent.loop import ModelAgent
from fc_eval.agent.profile import ModelProfile, ToolMode
from fc_eval.agent.protocol import ChatClient
from fc_eval.agent.schemas import sent_tools
from fc_eval.agent.task import Task
from fc_eval.cases.check import Suite, validate
from fc_eval.domains.load import relative_to
from fc_eval.domains.protocol import Domain
from fc_eval.domains.slips import domain_slips
from fc_eval.errors import CaseError, ConfigError, FcEvalError
from fc_eval.files import read_bytes
from fc_eval.judge.diff import render_diff
from fc_eval.judge.verdict import judge_case
from fc_eval.plugin.discover import matching_files
from fc_eval.plugin.options import Settings
from fc_eval.plugin.suite import Setting
from fc_eval.records.case import Case
from fc_eval.records.report import ReportV1
from fc_eval.records.run import InputHashes, RawRunV1, Trace
from fc_eval.records.verdict import Judgement
from fc_eval.report.build import build_report
from fc_eval.report.inputs import hash_inputs

if TYPE_CHECKING:
    import pytest

    from fc_eval.plugin.session import Evaluation

SUITE_FILE = "suite.json"


@dataclass(frozen=True, kw_only=True, eq=False)
class CaseSuite:
    """The cases of a project.

    `chosen` are the files under the session's arguments, a part of those that `checked` holds.
    """

    domain: Domain
    checked: Suite
    chosen: tuple[Path, ...]
    rootdir: Path

    fixtures = ("fc_domain", "fc_sandbox", "fc_agent")

    @cached_property
    def notes(self) -> Sequence[str]:
        """What is allowed in a domain and still looks like a slip."""
        return domain_slips(self.domain)

    @property
    def files(self) -> Mapping[str, Sequence[tuple[int, Case]]]:
        """The cases by file, with their line numbers."""
        return self.checked.files

    @property
    def cases(self) -> Sequence[Case]:
        """All cases, file after file."""
        return self.checked.cases

    def claims(self, path: Path) -> bool:
        """Whether *path* is one of this session's case files."""
        return path in self.chosen

    def has_file(self, shown: str) -> bool:
        """Whether the session is about the file of this name."""
        return shown in {_shown(path, self.rootdir) for path in self.chosen}

    def collect(self, session: pytest.Session, evaluation: Evaluation) -> list[pytest.Collector]:
        """Nothing: pytest finds case files by itself."""
        return []

    def check_profile(self, profile: ModelProfile) -> None:
        """Refuse a prompt format that is not there for cases, and schemas that can't be sent.

        Raises:
            ConfigError: There is no such format.
            DomainError: A tool's schema can't be written in the profile's form.
        """
        self.schema_changes(profile)
        if profile.tool_mode is not ToolMode.PROMPT:
            return
        from fc_eval.agent.prompt import FORMATS

        if profile.prompt_format not in FORMATS:
            raise ConfigError(
                f"prompt_format {profile.prompt_format!r} of model {profile.name!r} is none that "
                "cases can be run in",
                fix=f"use one of: {', '.join(sorted(FORMATS))}",
            )

    def schema_changes(self, profile: ModelProfile) -> Sequence[str]:
        """What the profile's form changes in the tools' schemas before they are sent.

        Raises:
            DomainError: A schema can't be written in it.
        """
        return sent_tools(self.domain.toolset.openai(), profile.schema_profile).changes

    def setting_of(self, case: Case) -> Setting:
        """The project's domain."""
        return Setting(domain=self.domain)

    async def answer(self, client: ChatClient, profile: ModelProfile, task: Task) -> str | None:
        """Let the model call, see results and call again, until it answers."""
        return await ModelAgent(client, profile)(task)

    def hashes(self, model_config: str | None) -> InputHashes:
        """The seven hashes that verdicts depend on."""
        return hash_inputs(self.cases, self.domain, model_config)

    def judge(self, case: Case, trace: Trace) -> Judgement:
        """The judge's verdict."""
        return judge_case(case, trace, self.domain)

    def report(self, run: RawRunV1) -> ReportV1:
        """Judge a run.

        Raises:
            ArtifactError: It has a case that the suite does not have.
        """
        return build_report(run, self.cases, self.domain)

    def explain(
        self, case: Case, trace: Trace, judgement: Judgement, *, verbose: bool
    ) -> list[str]:
        """Golden and actual calls side by side."""
        return render_diff(case, trace, judgement, verbose=verbose)

    def fields_of(self, case: Case) -> dict[str, Any]:
        """The fields of the case's line."""
        return {
            "id": case.id,
            "dimension": case.dimension.value,
            "category": case.category,
            "instruction": case.instruction,
            "db_fixture": case.context.db_fixture,
            "notes": case.context.notes,
            "order_sensitive": case.golden.order_sensitive,
            "negative": case.negative,
            "skip": case.skip,
            "skip_reason": case.skip_reason,
        }

    def tags_of(self, case: Case) -> Sequence[str]:
        """The dimension, and `negative`."""
        tags = [case.dimension.value.lower()]
        return [*tags, "negative"] if case.negative else tags


def open_case_suite(config: pytest.Config, settings: Settings, files: Sequence[Path]) -> CaseSuite:
    """Ask for the domain, and check every case in the folders of *files*.

    Raises:
        FcEvalError: There is no domain, or a file is faulty; all faults are listed.
    """
    root = settings.rootdir
    domain = _ask_for_domain(config, settings)
    folders = {path.parent for path in files}
    whole = [path for path in matching_files(config) if path.parent in folders]
    texts = [(_shown(path, root), _read_text(path, root)) for path in whole]
    checked = validate(files=texts, suite_text=_suite_text(files, root), domain=domain)
    return CaseSuite(domain=domain, checked=checked, chosen=tuple(files), rootdir=root)


def _shown(path: Path, root: Path) -> str:
    """*path* as it is shown: from the rootdir, with forward slashes."""
    return path.relative_to(root).as_posix()


def _read_text(path: Path, root: Path) -> str:
    data = read_bytes(path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CaseError(
            f"this is no UTF-8: {error.reason}",
            path=_shown(path, root),
            line=line,
            fix="save the file as UTF-8",
        ) from None


def _suite_text(files: Sequence[Path], root: Path) -> tuple[str, str] | None:
    for path in files:
        suite_file = path.parent / SUITE_FILE
        if suite_file.is_file():
            return _shown(suite_file, root), _read_text(suite_file, root)
    return None


def _ask_for_domain(config: pytest.Config, settings: Settings) -> Domain:
    try:
        with relative_to(settings.rootdir):
            domain = config.hook.pytest_fc_domain(config=config)
    except FcEvalError:
        raise
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        raise ConfigError(
            f"pytest_fc_domain failed: {type(error).__name__}: {error}",
            path=Path(last.filename).name,
            line=last.lineno,
            fix="let it return fc_eval.Domain.build(...)",
        ) from error
    if isinstance(domain, Domain):
        return domain
    problem = (
        "no pytest_fc_domain hook gives the domain that the cases play in"
        if domain is None
        else f"pytest_fc_domain gave {type(domain).__name__}, expected fc_eval.Domain"
    )
    raise ConfigError(
        problem,
        path="conftest.py",
        fix="write a function pytest_fc_domain(config) that returns fc_eval.Domain.build(...)",
    )
