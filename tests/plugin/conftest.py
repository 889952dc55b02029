"""What a session with cases loads, loaded once.

`pytester` forgets the modules that an inner session imports, so each would import them anew.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import deepdiff  # noqa: F401 - loaded for the inner sessions
import hypothesis  # noqa: F401 - its plugin loads it at the end of each session
import jsonschema  # noqa: F401 - likewise
import pytest

import fc_eval.client.embedded
import fc_eval.client.openai
import fc_eval.plugin.bfcl_suite
import fc_eval.plugin.collect
import fc_eval.plugin.commands
import fc_eval.plugin.runner
import fc_eval.plugin.running  # noqa: F401 - likewise

REPOSITORY = Path(__file__).parent.parent.parent
PARTS = ("cases", "fixtures", "baselines")


@pytest.fixture
def copy(pytester: pytest.Pytester) -> Path:
    """A copy of all that the suite needs, as the rootdir of inner sessions."""
    for name in PARTS:
        shutil.copytree(REPOSITORY / name, pytester.path / name)
    for name in ("conftest.py", "pyproject.toml"):
        shutil.copy(REPOSITORY / name, pytester.path / name)
    conftest = pytester.path / "conftest.py"
    text = conftest.read_text(encoding="utf-8")
    conftest.write_text(text.replace('pytest_plugins = ["pytester"]', ""), encoding="utf-8")
    return pytester.path
