"""The hooks that a project answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from fc_eval.domains.protocol import Domain


@pytest.hookspec(firstresult=True)
def pytest_fc_domain(config: pytest.Config) -> Domain | None:
    """Give the domain that the cases play in.

    Asked once in each process, before collection, only in a session that has case files. Relative
    paths given to `fc_eval.Domain.build` start at the rootdir.

    Args:
        config: pytest's configuration.
    """
