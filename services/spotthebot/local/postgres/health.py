"""Keeps a PostgreSQL server alive: restarts a dead or hanging server on its old port, so that services find it.

A hanging server accepts connections, because the kernel does, but never answers. The check sends the protocol's
SSLRequest, which a server answers with one byte before any authentication. libpq can't be used: if the server hangs,
cancelling libpq's request hangs as well.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from functools import partial

from spotthebot.kit.errors import Error
from spotthebot.kit.processes.health import processor_seconds_of, wait_until_hung
from spotthebot.kit.processes.log_file import cut
from spotthebot.kit.processes.spec import Event, HealthLimits, OnEvent
from spotthebot.kit.waits.cancellation import in_background
from spotthebot.local.postgres.cluster import Cluster
from spotthebot.local.postgres.home import SSL_REQUEST

SERVER = "postgres"
"""The name of the server in events."""
_CHECK_SECONDS = 0.5
_LIMITS = HealthLimits()


@contextlib.asynccontextmanager
async def kept_alive(
    cluster: Cluster | None, on_event: OnEvent, *, check_seconds: float = _CHECK_SECONDS
) -> AsyncIterator[None]:
    """Restart the server during the block when it dies, kill it when it hangs, and limit the size of its log."""
    if cluster is None:
        yield
        return
    _report_start(cluster.pid, on_event)
    restarting = _restart_when_dead(cluster, on_event, check_seconds)
    async with in_background(restarting), in_background(_kill_when_hung(cluster, on_event)):
        yield


async def wait_until_server_hangs(cluster: Cluster, limits: HealthLimits = _LIMITS) -> None:
    """Wait until the server hangs. A server that does not run counts as not hanging."""
    await wait_until_hung(limits, partial(_answers, cluster), partial(_processor_seconds, cluster))


async def _restart_when_dead(cluster: Cluster, on_event: OnEvent, check_seconds: float) -> None:
    pid: int | None = cluster.pid
    while True:
        await asyncio.sleep(check_seconds)
        cut(cluster.log_file)
        if not cluster.running:
            if pid is not None:
                on_event(Event(SERVER, "died", pid))
                pid = None
            with contextlib.suppress(Error):  # the next round tries again; its log says why it did not start
                cluster.start()  # blocks for a moment, on the main thread: then the server dies with us
                pid = cluster.pid
                _report_start(pid, on_event)


def _report_start(pid: int, on_event: OnEvent) -> None:
    on_event(Event(SERVER, "started", pid))
    on_event(Event(SERVER, "ready", pid))


async def _kill_when_hung(cluster: Cluster, on_event: OnEvent) -> None:
    while True:
        await wait_until_server_hangs(cluster)
        on_event(Event(SERVER, "hung", cluster.pid))
        cluster.kill()


async def _answers(cluster: Cluster) -> bool:
    if not cluster.running:
        return True
    with contextlib.suppress(OSError):
        reader, writer = await asyncio.open_connection("127.0.0.1", cluster.port)
        try:
            writer.write(SSL_REQUEST)
            return bool(await reader.read(1))
        finally:
            writer.close()
    return False


def _processor_seconds(cluster: Cluster) -> float:
    return processor_seconds_of(cluster.pid) if cluster.running else 0.0
