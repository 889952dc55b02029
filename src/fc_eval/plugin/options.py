"""What the user asked for: command line, environment, ini values, pyproject → `Settings`.

For every value that has more than one source the order is: command line, environment
(`FC_MODEL` for `fc_model`, also from `.env`), ini value, default.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

import pytest

from fc_eval.errors import ConfigError

T = TypeVar("T")

EVALUATION: pytest.StashKey[Any] = pytest.StashKey()
"""Where a session that has cases keeps its `Evaluation`; typed there, to load nothing here."""

GROUP = "fc-eval"
DEFAULT_CASES = ("cases/*.jsonl",)
DEFAULT_CONCURRENCY = 8
LOCK_RUNS = 3
"""How many full runs a lock rests on."""
TRUE_WORDS = frozenset({"1", "true", "yes", "on"})


class GateMode(StrEnum):
    """What turns a session red."""

    CASES = "cases"
    BASELINE = "baseline"
    NONE = "none"


class Variables(dict[str, str]):
    """Variables of an environment, whose values no traceback shows."""

    def __repr__(self) -> str:
        return f"<{len(self)} variables>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options of one session, each from its first source.

    `gate` is None where nothing was chosen, so that a baseline may decide. `model` is the name of
    a profile, None where none was chosen. `environ` is the environment with `.env` under it. A
    traceback may show this object, so what may hold a key is left out of its text.
    `baseline_of_session` is the baseline where it was named for this session and not by the
    project. `bfcl` holds the names of subsets and pipelines; where it is empty, the session is
    about case files.
    """

    rootdir: Path
    environ: Mapping[str, str] = field(repr=False)
    dotenv: Mapping[str, str] = field(repr=False)
    table: Mapping[str, Any] = field(repr=False)
    table_path: Path
    evaluate: bool
    consent: bool
    model: str | None
    gate: GateMode | None
    min_coverage: float
    concurrency: int
    repeats: int
    lock: bool
    write_review: bool
    baseline: str | None
    baseline_of_session: str | None
    replay: Path | None
    resume: Path | None
    bfcl: tuple[str, ...] = ()
    bfcl_data: Path | None = None
    predictions: Path | None = None

    @property
    def sends_nothing(self) -> bool:
        """Whether all runs are there already, so that no model is asked."""
        return self.replay is not None or self.predictions is not None

    @property
    def agent_name(self) -> str:
        """What the project calls its own agent, `agent` of `[tool.fc_eval]`."""
        return str(self.table.get("agent", "fc_agent"))

    @property
    def table_name(self) -> str:
        """The file of `[tool.fc_eval]`, as error texts name it."""
        return self.table_path.name


def add_options(parser: pytest.Parser) -> None:
    """Declare the options and ini values of the plugin."""
    group = parser.getgroup(GROUP, "tool-calling evaluation")
    group.addoption(
        "--fc-eval",
        action="store_true",
        dest="fc_eval",
        help="run the case files only, and consent to calling the chosen model",
    )
    group.addoption(
        "--fc-validate",
        action="store_true",
        dest="fc_validate",
        help="check suite and domain offline, run nothing; with -v the coverage matrix",
    )
    group.addoption(
        "--fc-model",
        dest="fc_model",
        metavar="NAME",
        help="the model profile to use, [tool.fc_eval.models.NAME]",
    )
    group.addoption(
        "--fc-gate",
        dest="fc_gate",
        choices=[mode.value for mode in GateMode],
        help="what fails the session: cases, baseline or none",
    )
    group.addoption(
        "--fc-replay",
        dest="fc_replay",
        metavar="RAW",
        help="judge a recorded run again: a raw_run.json or a run's folder; nothing is sent",
    )
    group.addoption(
        "--fc-resume",
        dest="fc_resume",
        metavar="RUN_DIR",
        help="finish an interrupted run in its folder; what is there is not asked again",
    )
    group.addoption(
        "--fc-repeat",
        dest="fc_repeat",
        metavar="N",
        help="run each case N times, each in a fresh sandbox (default 1)",
    )
    group.addoption(
        "--fc-lock-baseline",
        action="store_true",
        dest="fc_lock_baseline",
        help="run the suite three times, or take --fc-from, and lock the first run as baseline",
    )
    group.addoption(
        "--fc-from",
        dest="fc_from",
        nargs="+",
        metavar="RUN",
        help="with --fc-lock-baseline: lock stored runs, the first is the canonical one",
    )
    group.addoption(
        "--fc-baseline",
        dest="fc_baseline",
        metavar="FILE",
        help="the baseline to compare with (default baselines/baseline.json)",
    )
    group.addoption(
        "--fc-write-review",
        action="store_true",
        dest="fc_write_review",
        help="write or complete the review of this session's FAILs; alone, of the latest run's",
    )
    group.addoption(
        "--fc-consistency",
        dest="fc_consistency",
        nargs="+",
        metavar="RUN",
        help="compare the verdicts of three stored runs or more",
    )
    group.addoption(
        "--fc-compare",
        dest="fc_compare",
        nargs=2,
        metavar="RUN",
        help="compare two stored runs: flips, intervals, p-value, cost",
    )
    group.addoption(
        "--fc-merge",
        dest="fc_merge",
        nargs="+",
        metavar="RUN",
        help="put the parts of a run together, such as those that several machines made",
    )
    group.addoption(
        "--fc-show",
        dest="fc_show",
        metavar="RUN",
        help="print a stored run: summary, diffs, exchanges; -k and -m select cases",
    )
    group.addoption(
        "--fc-bfcl",
        dest="fc_bfcl",
        metavar="NAMES",
        help="be about BFCL v4 entries instead of case files: subsets and pipelines (offline, "
        "production, live), comma separated; select entries with -k and -m",
    )
    group.addoption(
        "--fc-bfcl-fetch",
        action="store_true",
        dest="fc_bfcl_fetch",
        help="get the data of BFCL v4 once, with pip, into the user's cache",
    )
    group.addoption(
        "--fc-predictions",
        dest="fc_predictions",
        metavar="FILE",
        help="with --fc-bfcl: score answers made elsewhere, JSONL or official result files",
    )
    group.addoption(
        "--fc-concurrency",
        dest="fc_concurrency",
        metavar="K",
        help=f"agent runs in flight in one process (default {DEFAULT_CONCURRENCY})",
    )
    parser.addini(
        "fc_cases",
        "case files, as globs from the rootdir (default: cases/*.jsonl)",
        type="linelist",
        default=list(DEFAULT_CASES),
    )
    parser.addini("fc_model", "the model profile to use", default="")
    parser.addini("fc_gate", "what fails the session: cases, baseline or none", default="")
    parser.addini("fc_baseline", "the baseline to compare with", default="")
    parser.addini(
        "fc_bfcl_data",
        "the unpacked package folder bfcl_eval, or its data folder, from the rootdir",
        default="",
    )
    parser.addini("fc_repeat", "how often each case is run", default="")
    parser.addini("fc_concurrency", "agent runs in flight in one process", default="")
    parser.addini(
        "fc_min_coverage",
        "the judged share of the planned, unskipped cases below which a session fails (default 1)",
        default="",
    )


def read_settings(config: pytest.Config) -> Settings:
    """Read all sources.

    Raises:
        ConfigError: A value can't be used.
    """
    rootdir = config.rootpath
    table_path = rootdir / "pyproject.toml"
    dotenv = Variables(_read_dotenv(rootdir))
    environ = Variables({**dotenv, **os.environ})
    evaluate = wants_cases_only(config)
    lock = bool(config.getoption("fc_lock_baseline"))
    table = _read_table(table_path)
    pick = _Picker(config, environ)
    repeats = pick("fc_repeat", _positive, 1)
    return Settings(
        rootdir=rootdir,
        environ=environ,
        dotenv=dotenv,
        table=table,
        table_path=table_path,
        evaluate=evaluate,
        consent=evaluate or environ.get("EVAL_MODE", "").strip().lower() in TRUE_WORDS,
        model=pick("fc_model", str, None) or table.get("model"),
        gate=pick("fc_gate", GateMode, None),
        min_coverage=pick("fc_min_coverage", _share, 1.0),
        concurrency=pick("fc_concurrency", _positive, DEFAULT_CONCURRENCY),
        repeats=max(repeats, LOCK_RUNS) if lock else repeats,
        lock=lock,
        write_review=bool(config.getoption("fc_write_review")),
        baseline=pick("fc_baseline", str, None),
        baseline_of_session=config.getoption("fc_baseline") or environ.get("FC_BASELINE"),
        replay=_path(config, "fc_replay"),
        resume=_path(config, "fc_resume"),
        bfcl=bfcl_names(config),
        bfcl_data=bfcl_data(config),
        predictions=_predictions(config),
    )


class _Picker:
    """The first source that has a value, read and checked."""

    def __init__(self, config: pytest.Config, environ: Mapping[str, str]) -> None:
        self._config = config
        self._environ = environ

    def __call__(self, name: str, read: Callable[[str], T], default: Any) -> Any:
        sources = (
            (f"--{name.replace('_', '-')}", self._config.getoption(name, None)),
            (f"the environment's {name.upper()}", self._environ.get(name.upper())),
            (f"the ini value {name}", self._config.getini(name)),
        )
        for source, text in sources:
            if text:
                try:
                    return read(text)
                except ValueError as error:
                    raise ConfigError(
                        f"{source} is {text!r}: {error}", fix=f"correct {source}"
                    ) from None
        return default


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError("expected a whole number, 1 or more")
    return number


def _share(text: str) -> float:
    number = float(text)
    if not 0 <= number <= 1:
        raise ValueError("expected a number from 0 to 1")
    return number


def _path(config: pytest.Config, name: str) -> Path | None:
    text = config.getoption(name)
    return None if text is None else Path(config.invocation_params.dir, text)


def bfcl_names(config: pytest.Config) -> tuple[str, ...]:
    """The subsets and pipelines that the session is about; empty where it is about cases."""
    names = (config.getoption("fc_bfcl") or "").split(",")
    return tuple(dict.fromkeys(name.strip() for name in names if name.strip()))


def bfcl_data(config: pytest.Config) -> Path | None:
    """The folder that the ini value names, made absolute."""
    named = config.getini("fc_bfcl_data")
    return config.rootpath / named if named else None


def _predictions(config: pytest.Config) -> Path | None:
    path = _path(config, "fc_predictions")
    if path is None:
        return None
    for other in ("replay", "resume"):
        if config.getoption(f"fc_{other}"):
            raise ConfigError(
                f"--fc-predictions and --fc-{other} both say where the runs come from",
                fix="leave one of them out",
            )
    return path


def wants_cases_only(config: pytest.Config) -> bool:
    """Whether this session is about case files and nothing else, and consents to their model."""
    return bool(config.getoption("fc_eval") or config.getoption("fc_lock_baseline"))


def wants_command(config: pytest.Config) -> bool:
    """Whether an offline command takes the place of a test run."""
    option = config.getoption
    review_alone = option("fc_write_review") and not wants_cases_only(config)
    commands = ("fc_validate", "fc_from", "fc_consistency", "fc_compare", "fc_merge", "fc_show")
    return bool(review_alone or any(option(name) for name in commands))


def _read_dotenv(rootdir: Path) -> Mapping[str, str]:
    path = rootdir / ".env"
    if not path.is_file():
        return {}
    from dotenv import dotenv_values

    return {key: value for key, value in dotenv_values(path).items() if value is not None}


def _read_table(path: Path) -> Mapping[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
        table = tomllib.loads(text).get("tool", {}).get("fc_eval", {})
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"it can't be read: {error}", path=path, fix="mend the file") from None
    if not isinstance(table, dict):
        raise ConfigError("[tool.fc_eval] is no table", path=path, fix="write it as a table")
    return table
