"""Secrets out of what pytest itself prints where the harness breaks.

A case's own reports are cleaned by its item. What is left are errors of collection and internal
errors, whose tracebacks show arguments and, with --showlocals, every local value.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest
from _pytest._code.code import (
    ExceptionChainRepr,
    ExceptionRepr,
    ReprTracebackNative,
    TerminalRepr,
)
from _pytest.reports import CollectErrorRepr

if TYPE_CHECKING:
    from fc_eval.plugin.session import Evaluation


class Discretion:
    """Cleans the reports that belong to no case; one in every process of a session with cases."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation

    @pytest.hookimpl(tryfirst=True)
    def pytest_internalerror(self, excrepr: Any) -> None:
        """Clean an internal error before anyone prints it."""
        self._clean(excrepr)

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self,
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Clean an error of collection."""
        report = yield
        if isinstance(report.longrepr, str):
            report.longrepr = self._evaluation.redact(report.longrepr)
        elif isinstance(report.longrepr, TerminalRepr):
            self._clean(report.longrepr)
        return report

    def _clean(self, shown: TerminalRepr) -> None:
        # The object is in other hands already, so it is changed and not replaced.
        text = str(shown)
        clean = self._evaluation.redact(text)
        if clean == text:
            return
        traceback = ReprTracebackNative([clean])
        if isinstance(shown, ExceptionRepr):
            shown.reprtraceback = traceback
            if shown.reprcrash is not None:
                # The short summary shows this part alone.
                shown.reprcrash.message = self._evaluation.redact(shown.reprcrash.message)
        if isinstance(shown, ExceptionChainRepr):
            shown.chain = [(traceback, shown.reprcrash, None)]
        elif isinstance(shown, CollectErrorRepr):
            shown.longrepr = clean
