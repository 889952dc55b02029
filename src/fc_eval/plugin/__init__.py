"""The hooks through which pytest meets the harness, a few lines each.

In a session without case files nothing but this module, the options and the fixtures is loaded.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fc_eval.errors import FcEvalError
from fc_eval.plugin import fixtures
from fc_eval.plugin.discover import case_files, is_about_bfcl
from fc_eval.plugin.options import (
    EVALUATION,
    add_options,
    bfcl_data,
    bfcl_names,
    read_settings,
    wants_cases_only,
    wants_command,
)

if TYPE_CHECKING:
    from fc_eval.plugin.collect import CaseFile

MARKERS = (
    "fc(id, dimension, category, negative, ...): a case, with the fields of its line",
    "d1: a case of tool selection",
    "d2: a case of parameter fill",
    "d3: a case of invocation: call only when a call is due",
    "d4: a case of a chain: request, then confirm or abort",
    "negative: a case in which the wrong thing is to call",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare options and ini values."""
    add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare `pytest_fc_domain`."""
    from fc_eval.plugin import hookspec

    pluginmanager.add_hookspecs(hookspec)


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers, and the fixtures as a plugin of their own."""
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    config.pluginmanager.register(fixtures, "fc_eval.fixtures")
    if bfcl_names(config):
        from fc_eval.bfcl.entries import PIPELINES, SUBSETS

        for name in SUBSETS:
            config.addinivalue_line("markers", f"{name}: an entry of this BFCL subset")
        for name in PIPELINES:
            config.addinivalue_line("markers", f"{name}: an entry of this BFCL pipeline")
    data = bfcl_data(config)
    if data is not None:
        from fc_eval.bfcl.data import using_data

        session = ExitStack()
        session.enter_context(using_data(data))
        config.add_cleanup(session.close)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Do a command in the place of a test run, where one was asked for."""
    if config.getoption("fc_bfcl_fetch"):
        from fc_eval.plugin.fetch import fetch_data

        return fetch_data(config)
    if not wants_command(config):
        return None
    from fc_eval.plugin.commands import run_command

    return run_command(config)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Check suite, domain and model before workers start and before anything is sent."""
    config = session.config
    try:
        files = [] if is_about_bfcl(config) else case_files(config)
        if files or bfcl_names(config):
            from fc_eval.plugin.session import begin

            begin(config, read_settings(config), files)
    except FcEvalError as error:
        raise pytest.UsageError(str(error)) from error


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With --fc-eval, leave every file but the case files aside."""
    if not wants_cases_only(config) or collection_path.is_dir():
        return None
    evaluation = config.stash.get(EVALUATION, None)
    return None if evaluation is None or evaluation.claims(collection_path) else True


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> CaseFile | None:
    """Take the files that `fc_cases` names for files of cases."""
    evaluation: Any = parent.config.stash.get(EVALUATION, None)
    if evaluation is None or not evaluation.claims(file_path):
        return None
    from fc_eval.plugin.collect import CaseFile

    return CaseFile.from_parent(parent, path=file_path, evaluation=evaluation)
