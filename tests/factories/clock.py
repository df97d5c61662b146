"""A clock that tests move, in place of waiting or of ageing rows."""

from dataclasses import replace
from datetime import datetime, timedelta

from fastapi import FastAPI

from spotthebot.kit.waits.clock import Clock, system_clock
from spotthebot.kit.web.core.resources import core_of


class MovableClock:
    """Runs as the system's clock does, ahead of it by as much as it was moved."""

    def __init__(self) -> None:
        self._ahead = timedelta()

    def __call__(self) -> datetime:
        return system_clock() + self._ahead

    def advance(self, **by: float) -> None:
        """Move the clock; the arguments are those of `timedelta`."""
        self._ahead += timedelta(**by)


def set_clock(app: FastAPI, clock: Clock) -> None:
    """Have an application read the time from this clock."""
    app.state.core = replace(core_of(app), clock=clock)
