"""Every error that is raised on purpose.

    FcEvalError            what is wrong, where, and how to mend it
    ├─ FaultsError         all faults of a suite, a domain or a configuration at once
    ├─ CaseError           one line of a case file
    ├─ DomainError         tools, prompt, sandbox or identifiers of a domain
    ├─ ConfigError         options, model profiles, keys
    ├─ ArtifactError       a stored run, report, baseline, review that cannot be read or written
    └─ RefusedError        an offline command whose conditions are not met, such as a lock
    ToolError              what a sandbox raises for a fault that the model shall see

A wrong answer of a model is none of these: it is a verdict.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from os import PathLike


class FcEvalError(Exception):
    """An error that says what is wrong, where, and how to mend it.

    Args:
        problem: What is wrong, in one line.
        fix: How to mend it, as an order to the reader.
        path: The file in which it is wrong.
        line: The line of *path*, counted from 1.
    """

    def __init__(
        self,
        problem: str,
        *,
        fix: str,
        path: str | PathLike[str] | None = None,
        line: int | None = None,
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.fix = fix
        self.path = None if path is None else str(path)
        self.line = line

    def __str__(self) -> str:
        where = "" if self.path is None else self.path
        if where and self.line is not None:
            where += f":{self.line}"
        head = f"{where}: {self.problem}" if where else self.problem
        return f"{head}\n  fix: {self.fix}"


class CaseError(FcEvalError):
    """A line of a case file, or the suite file beside it, breaks the case format."""


class DomainError(FcEvalError):
    """A toolset, a system prompt, fixtures or known identifiers can't be used."""


class ConfigError(FcEvalError):
    """An option, an ini value, a model profile or an environment variable can't be used."""


class ArtifactError(FcEvalError):
    """A stored artifact can't be read, is not valid, or can't be written."""


class RefusedError(FcEvalError):
    """An offline command was asked for something whose conditions are not met."""


class FaultsError(FcEvalError):
    """All faults that were found, in the order of their places; never only the first.

    Args:
        faults: At least one error.
    """

    def __init__(self, faults: Iterable[FcEvalError]) -> None:
        self.faults = tuple(faults)
        if not self.faults:
            raise ValueError("FaultsError takes at least one fault")
        count = len(self.faults)
        super().__init__(
            f"{count} fault{'s' if count > 1 else ''}", fix="mend each of them, then run again"
        )

    def __str__(self) -> str:
        return "\n".join([*map(str, self.faults), self.problem])


class ToolError(Exception):
    """A fault of a tool that the model shall see, raised by a sandbox.

    The model gets `{"error": {"code", "message"}}` as the tool's result. Any other exception from
    a sandbox is the harness's fault and ends the case as AGENT_ERROR.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


def nearest(name: str, names: Collection[str], *, otherwise: str) -> str:
    """The mend for a wrong *name*: the one of *names* that was probably meant, or *otherwise*."""
    import difflib

    close = difflib.get_close_matches(name, names, n=1)
    return f"write {close[0]!r}" if close else otherwise
