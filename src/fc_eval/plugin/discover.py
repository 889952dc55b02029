"""Which case files a session is about; asked in every session, so it loads nothing.

Only the files that the ini value `fc_cases` names are case files. A JSONL file of someone else's
is never touched.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from fc_eval.errors import ConfigError
from fc_eval.plugin.options import bfcl_names, wants_cases_only, wants_command


def case_files(config: pytest.Config) -> list[Path]:
    """The case files under the session's arguments, in the order of the globs, then sorted.

    With `--fc-eval` and no argument of the user's own the session is about the case files alone,
    so they become its arguments.

    Raises:
        ConfigError: `--fc-eval` was given, but there is no case file.
    """
    files = matching_files(config)
    evaluate = wants_cases_only(config) or wants_command(config)
    if evaluate and config.args_source is not config.ArgsSource.ARGS and files:
        config.args = [str(path) for path in files]
        return files
    wanted = [_path_of(config, argument) for argument in config.args]
    chosen = [path for path in files if any(path == w or w in path.parents for w in wanted)]
    if evaluate and not chosen:
        globs = ", ".join(config.getini("fc_cases"))
        raise ConfigError(
            f"there is no case file: {len(files)} match {globs}, none of them under the arguments",
            fix="write a suite there, name another one by the ini value fc_cases, or drop the "
            f"arguments; the rootdir is {config.rootpath}: where that is not your project, write "
            "paths outside it with =, as in --fc-replay=PATH, or give --rootdir",
        )
    return chosen


def is_about_bfcl(config: pytest.Config) -> bool:
    """Whether the session is about BFCL entries; then nothing is left to find in folders.

    Raises:
        ConfigError: Arguments were given beside `--fc-bfcl`.
    """
    if not bfcl_names(config):
        if config.getoption("fc_bfcl") is not None:
            raise ConfigError("--fc-bfcl names no subset", fix="write --fc-bfcl offline")
        if config.getoption("fc_predictions"):
            raise ConfigError(
                "--fc-predictions needs to know what was answered", fix="add --fc-bfcl NAMES"
            )
        return False
    given = config.args_source is config.ArgsSource.ARGS and config.args
    if given and not hasattr(config, "workerinput"):
        raise ConfigError(
            f"--fc-bfcl takes no arguments, and {config.args[0]} is one: no such file exists",
            fix="select entries with -k and -m, such as -k simple_python_0 or -m irrelevance",
        )
    config.args = []
    return True


def matching_files(config: pytest.Config) -> list[Path]:
    """All files that `fc_cases` names, in the order of the globs, then sorted."""
    found: dict[Path, None] = {}
    for pattern in config.getini("fc_cases"):
        found.update(dict.fromkeys(sorted(config.rootpath.glob(pattern))))
    return [path for path in found if path.is_file()]


def _path_of(config: pytest.Config, argument: str) -> Path:
    return Path(config.invocation_params.dir, str(argument).split("::", 1)[0]).resolve()


def has_own_agent(config: pytest.Config) -> bool:
    """Whether a conftest or a plugin of the project brings its own `fc_agent` fixture."""
    from fc_eval.plugin import fixtures

    return any(
        plugin is not fixtures and "fc_agent" in getattr(plugin, "__dict__", {})
        for plugin in config.pluginmanager.get_plugins()
    )
