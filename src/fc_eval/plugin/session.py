"""`Evaluation`: all that a session with cases knows before it runs the first of them.

Opened on the controller before workers start, and again in each worker: files are read, suite and
domain are checked, the model is chosen. Whatever is wrong is raised here, before anything is sent.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fc_eval.agent.profile import EndpointClass, ModelProfile, parse_profile
from fc_eval.calibration.compare import BaselineGate, Gate, compare_with_baseline
from fc_eval.calibration.review import review_summary
from fc_eval.client import check_reach, secrets_of
from fc_eval.client.redact import Redactor
from fc_eval.domains.protocol import Domain
from fc_eval.errors import ArtifactError, ConfigError
from fc_eval.files import BaselineFiles, read_baseline, stored_baseline_id
from fc_eval.plugin.calibrate import load_review
from fc_eval.plugin.case_suite import CaseSuite, open_case_suite
from fc_eval.plugin.discover import has_own_agent
from fc_eval.plugin.options import EVALUATION, GateMode, Settings, wants_command
from fc_eval.plugin.stored import StoredRun, open_predictions, open_replay, open_resume
from fc_eval.plugin.suite import Suite
from fc_eval.records.baseline import BaselineV1, ReviewV1
from fc_eval.records.case import AnyCase
from fc_eval.records.codec import JsonValue
from fc_eval.records.report import ReportV1
from fc_eval.records.run import InputHashes, RawRunV1, Trace

if TYPE_CHECKING:
    from fc_eval.plugin.runner import Runner

DEFAULT_BASELINE = "baselines/baseline.json"
BFCL_BASELINE = "baselines/bfcl-{}/baseline.json"
"""A benchmark's baseline lies beside that of the cases, one for each selection of subsets."""
_SECRET_NAME = re.compile("key|token|secret|passw|credential", re.IGNORECASE)
WORKER_INPUT = "fc_eval_inputs"
"""The key under which the controller tells its workers what they must find as well."""


@dataclass(kw_only=True, eq=False)
class Evaluation:
    """A checked suite, and the model that it is run on.

    `profile` is None where the project brings an `fc_agent` of its own and chooses no model.
    `distributed` is true on the controller of workers, `worker` in one of them.
    """

    config: pytest.Config
    settings: Settings
    suite: Suite[Any]
    profile: ModelProfile | None
    profiles: Mapping[str, ModelProfile]
    baseline: BaselineV1 | None
    baseline_files: BaselineFiles
    review: ReviewV1 | None
    own_agent: bool
    stored: StoredRun | None = None
    distributed: bool
    worker: bool

    @cached_property
    def redactor(self) -> Redactor:
        """What knows every secret of this session."""
        return Redactor(all_secrets(self.profiles.values(), self.settings))

    def redact(self, text: str) -> str:
        """*text* without any secret of this session."""
        return self.redactor.text(text)

    @cached_property
    def gate(self) -> GateMode:
        """What turns this session red."""
        if self.settings.lock:
            return GateMode.NONE
        fallback = GateMode.CASES if self.own_baseline is None else GateMode.BASELINE
        return self.settings.gate or fallback

    @property
    def own_baseline(self) -> BaselineV1 | None:
        """The baseline, where it is one of this session's model."""
        baseline = self.baseline
        return baseline if baseline and baseline.model_slug == self.model_name else None

    @property
    def no_baseline(self) -> str | None:
        """Why there is no baseline to compare this session with, None where there is one."""
        if self.own_baseline is not None:
            return None
        path = self.near(self.baseline_files.baseline)
        if self.baseline is None:
            return f"there is no baseline {path}: lock one with --fc-lock-baseline"
        return f"the baseline {path} is of {self.baseline.model_slug}, not of {self.model_name}"

    @cached_property
    def _baseline_gate(self) -> BaselineGate | None:
        baseline = self.own_baseline if self.gate is GateMode.BASELINE else None
        return None if baseline is None else BaselineGate(baseline)

    def baseline_says(self, case: AnyCase) -> Gate:
        """What the baseline says of *case* under this session's gate."""
        gate = self._baseline_gate
        return Gate.UNGATED if gate is None else gate.gate_of(case)

    @cached_property
    def runner(self) -> Runner:
        """What starts and awaits this process's agent runs."""
        from fc_eval.plugin.runner import Runner

        return Runner(self)

    @property
    def concurrency(self) -> int:
        """Agent runs in flight in this process; a worker knows its current item only."""
        return 1 if self.worker else self.settings.concurrency

    def claims(self, path: Path) -> bool:
        """Whether *path* is one of this session's case files."""
        return self.suite.claims(path)

    @property
    def domain(self) -> Domain:
        """The domain that the cases play in.

        Raises:
            ConfigError: They are entries of a benchmark, each with tools of its own.
        """
        if isinstance(self.suite, CaseSuite):
            return self.suite.domain
        raise ConfigError(
            "a session about BFCL has no domain: each entry brings its own tools",
            fix="leave --fc-bfcl out",
        )

    def near(self, path: Path) -> str:
        """*path* as a user would type it: from the current folder, where it is below that."""
        try:
            return path.relative_to(Path.cwd()).as_posix()
        except ValueError:
            return str(path)

    @property
    def case_paths(self) -> list[Path]:
        """The case files of the suite that lie in the project."""
        paths = [self.settings.rootdir / name for name in self.suite.files]
        return [path for path in paths if path.exists()]

    @property
    def baseline_paths(self) -> list[Path]:
        """The baselines of this project that exist: the session's, and those of all profiles."""
        paths = (
            self.baseline_files.baseline,
            *(_baseline_path(self.settings, profile) for profile in self.profiles.values()),
        )
        return [path for path in dict.fromkeys(paths) if path.exists()]

    @cached_property
    def by_id(self) -> Mapping[str, AnyCase]:
        """The cases of the suite by id."""
        return {case.id: case for case in self.suite.cases}

    @property
    def instructions(self) -> Mapping[str, str]:
        """What each case asks, by id."""
        return {case.id: case.instruction for case in self.suite.cases}

    @cached_property
    def places(self) -> Mapping[str, str]:
        """Where each case stands, as `file:line`, by id."""
        return {
            case.id: f"{path}:{line}"
            for path, lines in self.suite.files.items()
            for line, case in lines
        }

    def case_ids(self, node_ids: Sequence[str]) -> list[str]:
        """The case ids among pytest's node ids, in their order."""
        pairs = (node_id.partition("::") for node_id in node_ids)
        return [case_id for name, _, case_id in pairs if self.suite.has_file(name)]

    @cached_property
    def input_hashes(self) -> InputHashes:
        """The seven hashes that this session's verdicts depend on, as they are now."""
        return self.suite.hashes(None if self.profile is None else self.profile.digest)

    @property
    def model_name(self) -> str:
        """The slug of the model, or what stands in its place."""
        return str(self.model_block["slug"])

    @property
    def endpoint(self) -> str:
        """The class of the endpoint, never its address."""
        if self.settings.replay is not None:
            return "replayed"
        if self.settings.predictions is not None:
            return "answers from a file"
        if self.own_agent:
            return "the project's fc_agent"
        return "none" if self.profile is None else self.profile.endpoint_class.value

    @property
    def model_block(self) -> Mapping[str, JsonValue]:
        """The model as an artifact shows it."""
        if self.stored is not None:
            return self.stored.header.model
        if self.profile is None:
            return {"slug": self.settings.agent_name, "agent": "fc_agent"}
        block = {**self.profile.public(), "agent": "loop"}
        if self.profile.schema_profile is not None and isinstance(self.suite, CaseSuite):
            block["schema_changes"] = list(self.suite.schema_changes(self.profile))
        return block

    def skip_reason(self, case: AnyCase) -> str | None:
        """Why *case* is not run in this session, None where it is."""
        if case.skip:
            return case.skip_reason
        if self.lacks_consent:
            return f"{self.model_name} is remote: --fc-eval or EVAL_MODE=1 consents to calling it"
        return None

    @property
    def needs_consent(self) -> bool:
        """Whether running a case would call a model outside this machine."""
        return (
            self.profile is not None
            and not self.settings.sends_nothing
            and self.profile.endpoint_class is EndpointClass.REMOTE
        )

    @property
    def lacks_consent(self) -> bool:
        """Whether cases are skipped, since nobody consented to calling their model."""
        return self.needs_consent and not self.settings.consent

    @property
    def repeats(self) -> int:
        """How often each case is run."""
        return self.settings.repeats if self.stored is None else self.stored.header.repeats

    def stored_traces(self, case: AnyCase) -> Mapping[int, Trace]:
        """The runs of *case* that need not be made, by repeat, since they are stored already."""
        return {} if self.stored is None else self.stored.traces.get(case.id, {})

    def deselects(self, case: AnyCase) -> bool:
        """Whether a stored run leaves *case* out of this session."""
        return self.stored is not None and case.id not in self.stored.selected

    def excuse(self, case: AnyCase, *, runs: int, failed: int) -> str | None:
        """Why *failed* of *runs* FAILs of a case do not fail the session; None where they do.

        The baseline gate asks for a stable fail against a pass: a case that only sometimes fails
        is counted as flaky, and turns nothing red.
        """
        says = self.baseline_says(case)
        if says is Gate.KNOWN_FAILURE:
            return "known failure in the baseline"
        if says is Gate.KNOWN_PASS and failed < runs:
            return f"flaky: {failed} of {runs} runs fail"
        return None

    def judge(self, run: RawRunV1) -> ReportV1:
        """Judge a run of this suite.

        Raises:
            ArtifactError: It has a case that the suite does not have.
        """
        return self.suite.report(run)

    def compare(self, report: ReportV1) -> ReportV1:
        """*report* with what review and baseline say of it, where there are any."""
        if self.review is not None:
            report = replace(report, review=review_summary(report, self.review))
        if self.baseline is None:
            return report
        digests = {case_id: case.digest for case_id, case in self.by_id.items()}
        comparison = compare_with_baseline(report, self.baseline, suite=digests)
        return replace(report, baseline_comparison=comparison)

    def present_hashes(self, run: RawRunV1) -> InputHashes:
        """The inputs as they are now, with the model profile that *run* was made with.

        A stored run of another model than the chosen one is bound to its own profile's present
        state; where no profile of its slug is left, to the one that it was recorded with.
        """
        slug = run.model.get("slug")
        same = [profile for profile in self.profiles.values() if profile.slug == slug]
        chosen = self.profile if self.profile is not None and self.profile in same else None
        profile = chosen or (same[0] if same else None)
        digest = run.input_hashes.model_config if profile is None else profile.digest
        return replace(self.input_hashes, model_config=digest)

    @property
    def fingerprint(self) -> str:
        """What a worker must find as well: the files, the hashes of all inputs, the model."""
        text = repr((sorted(self.suite.files), self.input_hashes, self.model_block))
        return hashlib.sha256(text.encode()).hexdigest()


def begin(config: pytest.Config, settings: Settings, files: Sequence[Path]) -> None:
    """Check everything, then let the session's own hooks in.

    Raises:
        FcEvalError: Something can't be used; a faulty suite or domain lists all its faults.
    """
    from fc_eval.plugin.discretion import Discretion
    from fc_eval.plugin.running import Recording, Running

    evaluation = _open(config, settings, files)
    config.stash[EVALUATION] = evaluation
    config.pluginmanager.register(Discretion(evaluation), "fc_eval.discretion")
    if not evaluation.distributed:
        config.pluginmanager.register(Running(evaluation), "fc_eval.running")
    if not evaluation.worker:
        config.pluginmanager.register(Recording(evaluation), "fc_eval.recording")


def _open(config: pytest.Config, settings: Settings, files: Sequence[Path]) -> Evaluation:
    suite = _open_suite(config, settings, files)
    profiles = all_profiles(settings)
    own_agent = has_own_agent(config)
    optional = own_agent or settings.sends_nothing or wants_command(config)
    profile = _choose_profile(settings, profiles, optional=optional)
    if own_agent and not settings.sends_nothing:
        # What the project's own agent calls is its own affair: its runs are not the profile's.
        profile = None
    asks_a_model = not settings.sends_nothing and not wants_command(config)
    if profile is not None and asks_a_model:
        suite.check_profile(profile)
    baseline = _baseline_path(settings, profile)
    worker_input = getattr(config, "workerinput", None)
    evaluation = Evaluation(
        config=config,
        settings=settings,
        suite=suite,
        profile=profile,
        profiles=profiles,
        baseline=_sound_baseline(baseline) if baseline.exists() else None,
        baseline_files=BaselineFiles.beside(baseline),
        review=load_review(BaselineFiles.beside(baseline)),
        own_agent=own_agent,
        distributed=worker_input is None and config.pluginmanager.hasplugin("dsession"),
        worker=worker_input is not None,
    )
    if settings.replay is not None:
        evaluation.stored = open_replay(settings.replay, evaluation.input_hashes)
    elif settings.resume is not None:
        evaluation.stored = open_resume(settings.resume, evaluation.input_hashes)
    elif settings.predictions is not None:
        evaluation.stored = open_predictions(
            settings.predictions, evaluation.suite.cases, evaluation.input_hashes
        )
    if profile is not None and asks_a_model and not evaluation.lacks_consent:
        check_reach(profile, settings.environ, root=settings.rootdir)
    if worker_input is not None:
        _compare(worker_input.get(WORKER_INPUT), evaluation)
    return evaluation


def _open_suite(config: pytest.Config, settings: Settings, files: Sequence[Path]) -> Suite[Any]:
    if not settings.bfcl:
        return open_case_suite(config, settings, files)
    from fc_eval.plugin.bfcl_suite import open_bfcl_suite

    return open_bfcl_suite(settings)


def _baseline_path(settings: Settings, profile: ModelProfile | None) -> Path:
    if settings.bfcl:
        # What ini file and profiles name is the baseline of the project's cases.
        own = BFCL_BASELINE.format("+".join(settings.bfcl))
        return settings.rootdir / (settings.baseline_of_session or own)
    chosen = settings.baseline or (profile and profile.baseline) or DEFAULT_BASELINE
    return settings.rootdir / chosen


def _sound_baseline(path: Path) -> BaselineV1:
    baseline = read_baseline(path)
    if baseline.baseline_id != stored_baseline_id(path):
        raise ArtifactError(
            "this baseline was edited after it was locked: its id does not fit its content",
            path=path,
            fix="restore it from version control, or lock anew",
        )
    return baseline


def all_secrets(profiles: Iterable[ModelProfile], settings: Settings) -> list[str]:
    """The secrets of all profiles, chosen or not, and what `.env` names as one."""
    named = [value for name, value in settings.dotenv.items() if _SECRET_NAME.search(name)]
    return [*named, *secrets_of(settings.environ, profiles)]


def _compare(expected: Any, evaluation: Evaluation) -> None:
    if expected is not None and expected != evaluation.fingerprint:
        raise ConfigError(
            "this worker finds another suite, domain or model than its controller",
            fix="let nothing change the files while the session starts, and give both the same "
            "environment",
        )


def all_profiles(settings: Settings) -> dict[str, ModelProfile]:
    """Every model profile of the project, by name.

    Raises:
        ConfigError: One of them can't be used.
    """
    tables = settings.table.get("models", {})
    return {name: parse_profile(name, tables[name], path=settings.table_name) for name in tables}


def _choose_profile(
    settings: Settings, profiles: Mapping[str, ModelProfile], *, optional: bool
) -> ModelProfile | None:
    if settings.model is None:
        if optional:
            return None
        raise ConfigError(
            "there are cases, but neither a model nor an fc_agent fixture of the project",
            path=settings.table_name,
            fix='add model = "NAME" to [tool.fc_eval] and a table [tool.fc_eval.models.NAME], '
            "or a fixture fc_agent to conftest.py",
        )
    if settings.model not in profiles:
        exist = ", ".join(sorted(profiles)) or "none"
        raise ConfigError(
            f"there is no model profile {settings.model!r}",
            path=settings.table_name,
            fix=f"choose one that exists ({exist}), or add [tool.fc_eval.models.{settings.model}]",
        )
    return profiles[settings.model]
