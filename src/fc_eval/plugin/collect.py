"""From a case file to its items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from fc_eval.plugin.item import CaseItem
from fc_eval.plugin.session import Evaluation


class CaseFile(pytest.Module):
    """A JSONL file of cases.

    A `pytest.Module` without a Python module behind it, as pytest's own doctest files are, so that
    fixtures of module and package scope have a node to live on.
    """

    obj: Any = None

    def __init__(self, *args: Any, evaluation: Evaluation, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._evaluation = evaluation

    def collect(self) -> Iterator[CaseItem]:
        """One item a line, in the order of the lines."""
        for line, case in self._evaluation.suite.files[self.nodeid]:
            yield CaseItem.from_parent(
                self, name=case.id, case=case, line=line, evaluation=self._evaluation
            )


class BfclFolder(pytest.Directory):
    """Stands below the session for a folder that is not there, and has a file for each subset.

    A directory at the rootdir, so that pytest loads the root's conftest for the items.
    """

    def __init__(
        self, *args: Any, evaluation: Evaluation, places: Mapping[str, Path], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._evaluation = evaluation
        self._places = places

    def collect(self) -> Iterator[BfclFile]:
        """One file a subset, in the order in which they were named."""
        for shown, path in self._places.items():
            yield BfclFile.from_parent(self, path=path, nodeid=shown, evaluation=self._evaluation)


class BfclFile(CaseFile):
    """The entries of one subset; `path` is where they are read from, its node id is shorter."""

    @property
    def ihook(self) -> Any:
        """The hooks of the rootdir, not those of where the data lies."""
        return self.session.gethookproxy(self.config.rootpath)
