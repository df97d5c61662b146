"""The clock. Code that needs the current time receives a clock as an argument, so that a test can set the time."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]
"""Returns the present time, with a time zone."""


def system_clock() -> datetime:
    """Return the system's time in UTC."""
    return datetime.now(UTC)
