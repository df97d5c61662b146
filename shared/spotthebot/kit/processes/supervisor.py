"""Starts processes in order, keeps them alive, and stops them in reverse order."""

from collections.abc import Container, Sequence
from types import TracebackType
from typing import Self

import httpx

from spotthebot.kit.processes.monitor import ProcessMonitor
from spotthebot.kit.processes.spec import OnEvent, OnLine, ProcessSpec, Status

_POLL_TIMEOUT_SECONDS = 2.0


class Supervisor:
    """The processes of `specs`. Each is started when the process before it is healthy.

    `on_line(name, line)` and `on_event(event)` are called on the event loop; they must neither block nor raise. Start a
    supervisor on the event loop of the main thread: only there do its processes end with this process even after
    SIGKILL (see `lifeline`). A supervisor can be started only once.
    """

    def __init__(
        self,
        specs: Sequence[ProcessSpec],
        on_line: OnLine = lambda _name, _line: None,
        on_event: OnEvent = lambda _event: None,
    ) -> None:
        # Our own processes are asked directly: a proxy from the environment does not know them.
        # Each time on a new connection: a stopping server that waits for idle connections would wait for ours.
        limits = httpx.Limits(max_keepalive_connections=0)
        self._client = httpx.AsyncClient(trust_env=False, timeout=_POLL_TIMEOUT_SECONDS, limits=limits)
        self._monitors = [ProcessMonitor(spec, self._client, on_line, on_event) for spec in specs]

    async def start(self) -> None:
        """Start all processes and return when all are healthy.

        Raises ServiceDidNotStart for the first process that does not become healthy. In this case, and when cancelled,
        it stops the processes that it has started.
        """
        try:
            for monitor in self._monitors:
                await monitor.start()
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Stop all processes in reverse order, each within its stop timeout.

        When cancelled, kill the processes that still run.
        """
        try:
            for monitor in reversed(self._monitors):
                await monitor.stop()
        except BaseException:
            for monitor in self._monitors:
                monitor.kill()
            raise
        finally:
            await self._client.aclose()

    async def restart(self, names: Container[str]) -> None:
        """Restart the processes with these names, one after the other; unknown names are ignored."""
        for monitor in self._monitors:
            if monitor.name in names:
                await monitor.restart()

    def status(self) -> list[Status]:
        """Return the state of each process, in the order of the specs."""
        return [monitor.status() for monitor in self._monitors]

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()
