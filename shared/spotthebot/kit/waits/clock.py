"""The clock as a port: code that compares times with the present is given it, so that a test can move it."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]
"""Returns the present time, with a time zone."""


def system_clock() -> datetime:
    """Return the system's time in UTC."""
    return datetime.now(UTC)
