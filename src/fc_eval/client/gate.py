"""One gate for each endpoint, its credentials and a model: when to wait, and when to stop.

A rate limit that one request meets holds for all, so they wait together. A key that is refused or
a model that does not exist holds for all as well, so the cases that follow are not run.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from fc_eval.agent.protocol import Clock
from fc_eval.client.retry import Random
from fc_eval.records.run import ErrorCode, ErrorKind, RunError

Sleep = Callable[[float], Awaitable[None]]

STOP_AT_ONCE = frozenset(
    {ErrorCode.AUTH, ErrorCode.QUOTA, ErrorCode.NOT_FOUND, ErrorCode.TOOLS_UNSUPPORTED}
)
CONNECTION_ERRORS_IN_A_ROW = 3


@dataclass(slots=True)
class Gate:
    """The state that all requests to one model share."""

    resume_at: float = 0.0
    closed_by: RunError | None = None
    connection_errors: int = 0

    def pause(self, seconds: float, clock: Clock) -> None:
        """Let no request begin for the next *seconds*."""
        self.resume_at = max(self.resume_at, clock.monotonic() + seconds)

    async def wait(
        self, clock: Clock, sleep: Sleep, random: Random, *, time_left_s: float
    ) -> float:
        """Wait while the gate is paused; waiters go on one after the other within a second.

        Returns:
            The seconds that were waited; negative where the wait would be longer than
            *time_left_s* and was not begun.
        """
        waited = 0.0
        while (pause := self.resume_at - clock.monotonic()) > 0:
            wait_s = pause + random()
            if waited + wait_s >= time_left_s:
                return -1.0
            await sleep(wait_s)
            waited += wait_s
        return waited

    def refusal(self) -> RunError | None:
        """Why no further case is run, or None where the gate is open."""
        if self.closed_by is None:
            return None
        return replace(
            self.closed_by,
            kind=ErrorKind.API_ERROR,
            code=ErrorCode.NOT_RUN,
            message=f"not run: an earlier case ended in {self.closed_by.code}:"
            f" {self.closed_by.message}",
            http_status=None,
        )

    def succeeded(self) -> None:
        """Note that the endpoint answered."""
        self.connection_errors = 0

    def failed(self, error: RunError) -> None:
        """Note how a case ended; close the gate where the same must happen to all others."""
        in_a_row = self.connection_errors + 1 if error.code == ErrorCode.CONNECTION else 0
        self.connection_errors = in_a_row
        hopeless = error.code in STOP_AT_ONCE or in_a_row >= CONNECTION_ERRORS_IN_A_ROW
        if hopeless and self.closed_by is None:
            self.closed_by = error
