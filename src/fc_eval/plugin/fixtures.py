"""The fixtures of a case: its domain, its sandbox, its agent.

A project puts its own in their place by defining a fixture of the same name in a conftest.
"""

from __future__ import annotations

from typing import Any

import pytest

from fc_eval.plugin.options import EVALUATION


def _evaluation(config: pytest.Config, name: str) -> Any:
    evaluation = config.stash.get(EVALUATION, None)
    if evaluation is None:
        pytest.fail(f"{name} is there only in a session that has case files", pytrace=False)
    return evaluation


@pytest.fixture(scope="session")
def fc_domain(pytestconfig: pytest.Config) -> Any:
    """The domain that `pytest_fc_domain` gave."""
    evaluation = _evaluation(pytestconfig, "fc_domain")
    if evaluation.settings.bfcl:
        pytest.fail("fc_domain is of cases: each BFCL entry has its own tools", pytrace=False)
    return evaluation.domain


@pytest.fixture
def fc_sandbox(request: pytest.FixtureRequest) -> Any:
    """The case's sandbox: the one that the agent's calls run in, fresh for this case."""
    evaluation = _evaluation(request.config, "fc_sandbox")
    if not hasattr(request.node, "case"):
        pytest.fail("fc_sandbox belongs to a case; use fc_domain.make_sandbox(case)", pytrace=False)
    return evaluation.runner.sandbox_of(request.node)


@pytest.fixture(scope="session")
def fc_agent(pytestconfig: pytest.Config) -> Any:
    """The agent: by default the loop over the chosen model."""
    return _evaluation(pytestconfig, "fc_agent").runner.model_agent
