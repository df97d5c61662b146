"""Keeps one process alive: restarts it when it dies or hangs. The wait doubles with each failure in a row."""

import asyncio
from contextlib import suppress
from functools import partial
from time import monotonic

import httpx

from spotthebot.kit.processes.child import Child
from spotthebot.kit.processes.errors import ServiceDidNotStart
from spotthebot.kit.processes.health import Heartbeat, answers_at, processor_seconds_of, wait_until_hung
from spotthebot.kit.processes.spec import Event, EventKind, OnEvent, OnLine, ProcessSpec, Status
from spotthebot.kit.waits.backoff import Backoff

_BACKOFF = Backoff(first_seconds=0.2, max_seconds=30.0)
_HEALTHY_SECONDS = 60.0


class RestartDelays:
    """The wait before each restart: 0.2 s, doubled up to 30 s. After a minute in good health it is 0.2 s again."""

    def __init__(self) -> None:
        self._deaths = 0

    def after(self, healthy_seconds: float) -> float:
        """Return the wait in seconds before a restart, after the process was healthy for `healthy_seconds` and died."""
        self._deaths = 1 if healthy_seconds >= _HEALTHY_SECONDS else self._deaths + 1
        return _BACKOFF.seconds(self._deaths)


class ProcessMonitor:
    """Keeps the process of one spec alive: holds the current process, and the task that restarts it."""

    def __init__(self, spec: ProcessSpec, client: httpx.AsyncClient, on_line: OnLine, on_event: OnEvent) -> None:
        self._spec = spec
        self._client = client
        self._on_line = on_line
        self._on_event = on_event
        self._delays = RestartDelays()
        self._child: Child | None = None
        self._restarting: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._ready_at: float | None = None
        self._restarts = 0

    async def start(self) -> None:
        """Wait until the first process is healthy. From then on, restart the process when it dies.

        Raises ServiceDidNotStart.
        """
        child = await self._launch()
        self._restarting = asyncio.create_task(self._restart_when_dead(child))

    async def stop(self) -> None:
        """End the process, and do not start another."""
        if self._restarting:
            self._restarting.cancel()
            await asyncio.wait({self._restarting})
        self._stop_watching()
        self._ready_at = None
        if self._child and self._child.alive:
            exit_code = await self._child.stop()
            self._report("stopped", self._child, exit_code=exit_code)

    async def restart(self) -> None:
        """Stop the process and start another at once.

        If the new process does not start, try again with growing waits.
        """
        await self.stop()
        self._delays = RestartDelays()
        self._restarts += 1
        with suppress(ServiceDidNotStart):
            await self._launch()
        if self._child:
            self._restarting = asyncio.create_task(self._restart_when_dead(self._child))

    def kill(self) -> None:
        """End the process at once, without waiting for it."""
        self._stop_watching()
        if self._restarting:
            self._restarting.cancel()
        if self._child:
            self._child.kill()

    @property
    def name(self) -> str:
        return self._spec.name

    def status(self) -> Status:
        alive = self._child is not None and self._child.alive
        return Status(
            name=self._spec.name,
            pid=self._child.pid if self._child and alive else None,
            healthy=alive and self._ready_at is not None,
            restarts=self._restarts,
        )

    async def _launch(self) -> Child:
        self._child = child = await Child.launch(self._spec, self._on_line)
        self._report("started", child)
        await child.wait_until_ready(self._client)
        self._ready_at = monotonic()
        self._report("ready", child)
        self._watching = asyncio.create_task(self._kill_when_hung(child))
        return child

    async def _kill_when_hung(self, child: Child) -> None:
        spec = self._spec
        if spec.heartbeat_file is not None:
            answers = Heartbeat(spec.heartbeat_file).beats
        elif spec.health_url is not None:
            answers = partial(answers_at, self._client, spec.health_url)
        else:
            return
        await wait_until_hung(spec.health_limits, answers, partial(processor_seconds_of, child.pid))
        self._report("hung", child)
        child.kill()  # a process that hangs does not handle other signals

    def _stop_watching(self) -> None:
        if self._watching:
            self._watching.cancel()

    async def _restart_when_dead(self, child: Child) -> None:
        while True:
            exit_code = await child.wait()
            self._stop_watching()
            healthy_seconds = monotonic() - self._ready_at if self._ready_at else 0
            self._ready_at = None
            delay = self._delays.after(healthy_seconds)
            self._report("died", child, exit_code=exit_code, delay_seconds=delay)
            await asyncio.sleep(delay)
            self._restarts += 1
            with suppress(ServiceDidNotStart):
                await self._launch()
            child = self._child or child

    def _report(
        self,
        kind: EventKind,
        child: Child,
        *,
        exit_code: int | None = None,
        delay_seconds: float | None = None,
    ) -> None:
        self._on_event(Event(self._spec.name, kind, child.pid, exit_code, delay_seconds))
