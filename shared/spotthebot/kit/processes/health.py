"""Finds processes that hang: they are alive, but answer no request.

A process is asked at intervals. It hangs if it misses several answers in a row and uses no processor time meanwhile. A
process that uses processor time is busy, and gets minutes to answer. On a loaded machine, a missed answer does not
count if this process itself was late.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import monotonic

import httpx
import psutil

from spotthebot.kit.processes.spec import HealthLimits

_LATE_SECONDS = 1.0
_IDLE_SHARE = 0.002
"""A process that uses a smaller share of one processor is idle; a stopped or deadlocked one uses none at all."""


async def wait_until_hung(
    limits: HealthLimits, answers: Callable[[], Awaitable[bool]], processor_seconds: Callable[[], float]
) -> None:
    """Return when a process hangs. `processor_seconds` returns the processor time that it has used since its start."""
    missed, answered_at, used, took = 0, monotonic(), processor_seconds(), 0.0
    while True:
        await asyncio.sleep(max(limits.every_seconds - took, 0))
        asked_at = monotonic()
        is_answered = await _answered_in_time(answers, limits.timeout_seconds)
        took, used_before, used = monotonic() - asked_at, used, processor_seconds()
        if is_answered:
            missed, answered_at = 0, monotonic()
            continue
        if took > limits.timeout_seconds + _LATE_SECONDS:
            took = limits.every_seconds  # ask again without a wait
            continue
        is_idle = used - used_before <= _IDLE_SHARE * max(limits.every_seconds, took)
        missed = missed + 1 if is_idle else 0
        if missed >= limits.misses or monotonic() - answered_at > limits.busy_seconds:
            return


def processor_seconds_of(pid: int) -> float:
    """Return the processor time that a process has used; 0 if there is no such process."""
    with contextlib.suppress(psutil.Error):
        times = psutil.Process(pid).cpu_times()
        return times.user + times.system
    return 0.0


async def answers_at(client: httpx.AsyncClient, url: str) -> bool:
    """Return whether a server answers, with any status."""
    with contextlib.suppress(httpx.HTTPError):
        await client.get(url, timeout=None)
        return True
    return False


class Heartbeat:
    """A file that a process touches regularly as long as its event loop runs."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._seen = self._touched_at()

    async def beats(self) -> bool:
        """Return whether the file was touched since the last call."""
        before, self._seen = self._seen, self._touched_at()
        return before != self._seen

    def _touched_at(self) -> int:
        try:
            return self._file.stat().st_mtime_ns
        except FileNotFoundError:
            return 0


async def _answered_in_time(answers: Callable[[], Awaitable[bool]], seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            return await answers()
    except TimeoutError:
        return False
