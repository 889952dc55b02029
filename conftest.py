"""This repository's own domain, and pytester for the tests of the plugin."""

from __future__ import annotations

import pytest

import fc_eval

pytest_plugins = ["pytester"]


@pytest.hookimpl(optionalhook=True)
def pytest_fc_domain(config: pytest.Config) -> fc_eval.Domain:
    """The retail-support domain under `fixtures/`."""
    return fc_eval.load_domain("fixtures")
