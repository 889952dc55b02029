"""The official code and the data for the tests that need them, which are skipped without."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fc_eval.bfcl.data import find_data
from fc_eval.bfcl.entries import SUBSETS, BfclEntry, load_entries
from fc_eval.errors import ConfigError
from tests.bfcl.official import Official, find_official, load_official


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "bfcl_official: needs the official BFCL wheel (pytest --fc-bfcl-fetch)"
    )


@pytest.fixture(scope="session")
def official(tmp_path_factory: pytest.TempPathFactory) -> Official:
    place = find_official()
    if place is None:
        pytest.skip("the official BFCL code is not here: pytest --fc-bfcl-fetch, or FC_BFCL_DATA")
    return load_official(place, tmp_path_factory.mktemp("bfcl"))


@pytest.fixture(scope="session")
def all_entries() -> list[BfclEntry]:
    try:
        return [entry for subset in SUBSETS for entry in load_entries(subset)]
    except ConfigError as error:
        pytest.skip(f"no BFCL data: {error.problem}")


@pytest.fixture(scope="session")
def data_folder(all_entries: list[BfclEntry]) -> Path:
    return find_data(os.environ)
