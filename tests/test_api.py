"""The public names, each loaded on first use."""

from __future__ import annotations

import subprocess
import sys

import pytest

import fc_eval


@pytest.mark.parametrize("name", fc_eval.__all__)
def test_a_public_name_is_there(name: str) -> None:
    assert getattr(fc_eval, name) is not None
    assert name in dir(fc_eval)


def test_bfcl_is_reached_through_the_package() -> None:
    code = "import fc_eval; assert fc_eval.bfcl.score and fc_eval.bfcl.load_entries"

    subprocess.run([sys.executable, "-c", code], check=True)


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = fc_eval.no_such_name
