"""From a case file to its items."""

from __future__ import annotations

from collections.abc import Iterator
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
        for line, case in self._evaluation.lines_of(self.path):
            yield CaseItem.from_parent(
                self, name=case.id, case=case, line=line, evaluation=self._evaluation
            )
