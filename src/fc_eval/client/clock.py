"""The real clock: the one place where time is read for records and deadlines."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class SystemClock:
    """The machine's time."""

    def now(self) -> str:
        """The time in UTC as ISO 8601 text, to the millisecond."""
        return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def monotonic(self) -> float:
        """Seconds since some fixed moment."""
        return time.monotonic()

    def epoch(self) -> float:
        """Seconds since 1970, for the dates that a server names."""
        return time.time()
