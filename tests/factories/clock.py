"""A clock that tests move, in place of waiting or of ageing rows."""

from datetime import datetime, timedelta

from spotthebot.kit.waits.clock import system_clock


class MovableClock:
    """Runs as the system's clock does, ahead of it by as much as it was moved."""

    def __init__(self) -> None:
        self._ahead = timedelta()

    def __call__(self) -> datetime:
        return system_clock() + self._ahead

    def advance(self, **by: float) -> None:
        """Move the clock; the arguments are those of `timedelta`."""
        self._ahead += timedelta(**by)
