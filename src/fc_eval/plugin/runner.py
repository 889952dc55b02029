"""Which agent runs are under way, and whose turn it is.

While an item is reported, the runs of the next items are in flight already: at most
`--fc-concurrency` at once, in pytest's own order, each in a sandbox of its own. A case runs in its
turn instead where something of its own must come first: a sandbox fixture of the project, an agent
of function scope, an autouse fixture of function scope. A worker of pytest-xdist knows only its
current and its next item, so it runs nothing ahead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

from fc_eval.agent.profile import ModelProfile
from fc_eval.agent.protocol import ChatClient
from fc_eval.agent.run import DEADLINE_S, run_case
from fc_eval.agent.task import Agent, Task
from fc_eval.client import open_client
from fc_eval.client.clock import SystemClock
from fc_eval.domains.protocol import Sandbox
from fc_eval.engine import Engine
from fc_eval.errors import ConfigError
from fc_eval.plugin import fixtures
from fc_eval.records.run import Trace

if TYPE_CHECKING:
    from fc_eval.plugin.item import CaseItem
    from fc_eval.plugin.session import Evaluation

LOOKAHEAD_FACTOR = 4
"""How many runs may be started or done beyond the current item, in units of the concurrency.

More than one, so that one slow case does not leave the other slots empty; few, so that a session
that stops has not asked for the whole suite.
"""


@dataclass(slots=True)
class _Job:
    """The runs that one item still needs, by repeat: their sandboxes, and their futures once
    they are started."""

    sandboxes: dict[int, Sandbox]
    futures: dict[int, Future[Trace]] = field(default_factory=dict)


class Runner:
    """Starts and awaits the agent runs of one process.

    Args:
        evaluation: The session's suite, domain and model.
    """

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._clock = SystemClock()
        self._order: list[CaseItem] = []
        self._position: dict[CaseItem, int] = {}
        self._jobs: dict[CaseItem, _Job] = {}
        self._engine: Engine | None = None
        self._discarded = 0
        self.on_trace: Callable[[Trace], None] = lambda trace: None
        self.model_agent: Agent = _LazyModelAgent(evaluation)

    def plan(self, items: Sequence[CaseItem]) -> None:
        """Say in which order the items of this process will run."""
        self._order = list(items)
        self._position = {item: index for index, item in enumerate(items)}

    @property
    def engine(self) -> Engine:
        """The event loop, started on first use."""
        if self._engine is None:
            self._engine = Engine(self._evaluation.concurrency)
        return self._engine

    def sandbox_of(self, item: CaseItem) -> Sandbox:
        """The sandbox that the item's first run has or will have; a spare one where none will."""
        sandboxes = self._job(item).sandboxes
        if sandboxes:
            return next(iter(sandboxes.values()))
        return self._make_sandbox(item)

    def _make_sandbox(self, item: CaseItem) -> Sandbox:
        return self._evaluation.suite.setting_of(item.case).domain.make_sandbox(item.case)

    def traces_of(self, item: CaseItem) -> tuple[Trace, ...]:
        """What the agent did on this item's case; waits for it.

        Raises:
            ConfigError: Repeats were asked for where a fixture gives only one sandbox.
        """
        stored = self._evaluation.stored_traces(item.case)
        started = monotonic()
        try:
            made = self._in_turn(item) if must_wait_its_turn(item) else self._ahead(item)
        finally:
            item.waited_s = monotonic() - started
        return tuple(trace for _, trace in sorted({**stored, **made}.items()))

    def _ahead(self, item: CaseItem) -> dict[int, Trace]:
        self._start_ahead(item)
        job = self._jobs.pop(item)
        try:
            return {repeat: future.result() for repeat, future in job.futures.items()}
        except KeyboardInterrupt:
            # It is under way still, and counts among what is thrown away.
            self._jobs[item] = job
            raise

    def _job(self, item: CaseItem) -> _Job:
        job = self._jobs.get(item)
        if job is None:
            stored = self._evaluation.stored_traces(item.case)
            due = (n for n in range(1, self._evaluation.repeats + 1) if n not in stored)
            # A replay has nothing due: a run that was not recorded can't be made.
            nothing_due = self._evaluation.settings.sends_nothing
            job = _Job({} if nothing_due else {n: self._make_sandbox(item) for n in due})
            self._jobs[item] = job
        return job

    def _start_ahead(self, item: CaseItem) -> None:
        """Start the runs of *item*, and of the items behind it that share its agent."""
        agent = cast(Agent, item.funcargs["fc_agent"])
        self._start(item, agent)
        position = self._position.get(item)
        if position is None:
            return
        ahead = self._lookahead
        for later in self._order[position + 1 : position + 1 + ahead]:
            started = later in self._jobs and self._jobs[later].futures
            if started or not self._shares_agent(item, later):
                continue
            if self._evaluation.skip_reason(later.case):
                continue
            self._start(later, agent)

    @property
    def _lookahead(self) -> int:
        evaluation = self._evaluation
        if evaluation.worker or evaluation.concurrency == 1:
            return 0
        stops_early = bool(evaluation.config.getoption("maxfail")) or _steps_wise(evaluation)
        return evaluation.concurrency * (1 if stops_early else LOOKAHEAD_FACTOR)

    def _shares_agent(self, item: CaseItem, later: CaseItem) -> bool:
        if must_wait_its_turn(later):
            return False
        mine, theirs = _last_definition(item, "fc_agent"), _last_definition(later, "fc_agent")
        same_file = item.parent is later.parent
        return mine is theirs and (same_file or not _has_file_fixtures(later))

    def _start(self, item: CaseItem, agent: Agent) -> None:
        job = self._job(item)
        if job.futures:
            return
        for repeat, sandbox in job.sandboxes.items():
            future = self.engine.start(self._run(item, agent, sandbox, repeat, None))
            future.add_done_callback(self._note)
            job.futures[repeat] = future

    def _run(
        self,
        item: CaseItem,
        agent: Agent,
        sandbox: Sandbox,
        repeat: int,
        executor: Executor | None,
    ) -> Callable[[], Coroutine[Any, Any, Trace]]:
        profile = self._evaluation.profile
        setting = self._evaluation.suite.setting_of(item.case)
        return lambda: run_case(
            item.case,
            domain=setting.domain,
            messages=setting.messages,
            agent=agent,
            sandbox=sandbox,
            clock=self._clock,
            repeat=repeat,
            executor=executor,
            deadline_s=DEADLINE_S if profile is None else profile.case_deadline_s,
            redact=self._evaluation.redact,
        )

    def _in_turn(self, item: CaseItem) -> dict[int, Trace]:
        agent = cast(Agent, item.funcargs["fc_agent"])
        made: dict[int, Trace] = {}
        for repeat, sandbox in self._own_sandboxes(item).items():

            def run(
                executor: Executor, sandbox: Sandbox = sandbox, repeat: int = repeat
            ) -> Coroutine[Any, Any, Trace]:
                return self._run(item, agent, sandbox, repeat, executor)()

            made[repeat] = self.engine.run_here(run)
            self.on_trace(made[repeat])
        return made

    def _own_sandboxes(self, item: CaseItem) -> dict[int, Sandbox]:
        due = self._job(item).sandboxes
        del self._jobs[item]
        if not overrides(item, "fc_sandbox"):
            return due
        if self._evaluation.repeats > 1:
            raise ConfigError(
                "a project's fc_sandbox fixture gives one sandbox, but --fc-repeat needs a fresh "
                "one for each run",
                fix="give the sandbox by pytest_fc_domain instead of the fixture",
            )
        return dict.fromkeys(due, cast(Sandbox, item.funcargs["fc_sandbox"]))

    def _note(self, future: Future[Trace]) -> None:
        if not future.cancelled() and future.exception() is None:
            self.on_trace(future.result())

    def close(self) -> int:
        """Cancel what is in flight and end the loop. May be called twice.

        Returns:
            How many runs were started and thrown away.
        """
        if self._engine is None:
            return 0
        under_way = [
            future
            for job in self._jobs.values()
            for future in job.futures.values()
            if future.running()
        ]
        self._engine.close()
        self._discarded += sum(1 for run in under_way if run.cancelled() or run.exception())
        return self._discarded


class _LazyModelAgent:
    """The session's model, whose client opens with the first case."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._opening: asyncio.Task[ChatClient] | None = None

    async def __call__(self, task: Task) -> str | None:
        if self._opening is None:
            self._opening = asyncio.get_running_loop().create_task(self._open())
        client = await asyncio.shield(self._opening)
        return await self._evaluation.suite.answer(client, self._profile, task)

    @property
    def _profile(self) -> ModelProfile:
        profile = self._evaluation.profile
        assert profile is not None, "a session without a model has an fc_agent of its own"
        return profile

    async def _open(self) -> ChatClient:
        settings = self._evaluation.settings
        client = open_client(self._profile, settings.environ, root=settings.rootdir)
        return await self._evaluation.runner.engine.enter(client)


def _steps_wise(evaluation: Evaluation) -> bool:
    return bool(evaluation.config.getoption("stepwise", default=False))


def overrides(item: CaseItem, name: str) -> bool:
    """Whether the project put a fixture of its own in the place of ours."""
    return name in item.fixturenames and not _is_ours(_last_definition(item, name))


def must_wait_its_turn(item: CaseItem) -> bool:
    """Whether something of the item's own must come before its agent runs."""
    if overrides(item, "fc_sandbox"):
        return True
    if overrides(item, "fc_agent") and _last_definition(item, "fc_agent").scope == "function":
        return True
    return any(
        definition.scope == "function" and _is_the_projects(item, definition)
        for definition in _definitions(item)
    )


def _has_file_fixtures(item: CaseItem) -> bool:
    return any(
        definition.scope not in ("function", "session") and _is_the_projects(item, definition)
        for definition in _definitions(item)
    )


def _definitions(item: CaseItem) -> list[Any]:
    # pytest has no public way to ask which fixtures an item will use.
    table = item._fixtureinfo.name2fixturedefs
    return [table[name][-1] for name in item.fixturenames if name in table]


def _last_definition(item: CaseItem, name: str) -> Any:
    return item._fixtureinfo.name2fixturedefs[name][-1]


def _is_ours(definition: Any) -> bool:
    return bool(definition.func.__module__ == fixtures.__name__)


def _is_the_projects(item: CaseItem, definition: Any) -> bool:
    """Whether a fixture was written in the project, and not in an installed plugin."""
    code = getattr(definition.func, "__code__", None)
    if code is None or _is_ours(definition):
        return code is None
    path = Path(code.co_filename)
    in_project = item.config.rootpath in path.parents and "site-packages" not in path.parts
    return in_project or path.name == "conftest.py"
