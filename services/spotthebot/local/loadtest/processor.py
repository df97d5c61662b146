"""Measures the processor time of processes."""

from collections.abc import Mapping
from contextlib import suppress
from time import process_time
from typing import Final

import psutil

from spotthebot.local.loadtest.families import families

LOAD: Final = "the load itself"
"""The process in which everybody is simulated, which watches over the others as well."""


def processor_seconds(pids: Mapping[str, int]) -> dict[str, float]:
    """Return the processor time so far of each process with its children, and of this process, which makes the load.

    It is 0 for a process that has ended.
    """
    found = {LOAD: process_time()}
    for name, family in families(pids).items():
        found[name] = 0.0
        for each in family:
            with suppress(psutil.Error):
                times = each.cpu_times()
                # The time of children that ended and were waited for is part of their parent's.
                found[name] += times.user + times.system + times.children_user + times.children_system
    return found


def time_between(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """Return the processor seconds of each process between two readings."""
    return {name: max(0.0, after[name] - seconds) for name, seconds in before.items()}
