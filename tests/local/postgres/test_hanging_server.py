"""A PostgreSQL server that hangs is noticed, killed with all its sessions, and comes back with its data."""

import asyncio
import os
import signal
import time
from collections.abc import Callable

import psutil
import psycopg
import pytest

from spotthebot.kit.processes.spec import HealthLimits
from spotthebot.local.postgres.cluster import Cluster
from spotthebot.local.postgres.health import wait_until_server_hangs

LIMITS = HealthLimits(every_seconds=0.1, timeout_seconds=0.3, misses=3, busy_seconds=60)


def processes_of(cluster: Cluster) -> list[psutil.Process]:
    server = psutil.Process(cluster.pid)
    return [server, *server.children(recursive=True)]


async def is_noticed(cluster: Cluster, seconds: float) -> bool:
    try:
        await asyncio.wait_for(wait_until_server_hangs(cluster, LIMITS), seconds)
    except TimeoutError:
        return False
    return True


class TestHangingServer:
    @pytest.mark.parametrize("whole", [False, True], ids=["postmaster", "postmaster and sessions"])
    async def test_is_killed_and_comes_back_with_its_data(self, make_cluster: Callable[..., Cluster], whole: bool):
        cluster = make_cluster(durable=True)
        await asyncio.to_thread(cluster.start)
        with psycopg.connect(cluster.admin_url) as connection:
            connection.execute("CREATE TABLE kept AS SELECT generate_series(1, 3)")
        held = psycopg.connect(cluster.admin_url)  # a session of a service
        port, stopped = cluster.port, processes_of(cluster)
        assert not await is_noticed(cluster, 1)
        for process in stopped if whole else stopped[:1]:
            os.kill(process.pid, signal.SIGSTOP)
        assert await is_noticed(cluster, 10)
        began = time.monotonic()
        await asyncio.to_thread(cluster.kill)
        assert time.monotonic() - began < 20
        assert not cluster.running
        assert [each for each in stopped if each.is_running() and each.status() != psutil.STATUS_ZOMBIE] == []
        with pytest.raises(psycopg.OperationalError):
            held.execute("SELECT 1")
        held.close()
        await asyncio.to_thread(cluster.start)
        assert cluster.port == port
        with psycopg.connect(cluster.admin_url) as connection:
            assert connection.execute("SELECT count(*) FROM kept").fetchone() == (3,)
        assert not await is_noticed(cluster, 1)

    async def test_does_not_hang_while_it_is_down_or_refuses_us(self, make_cluster: Callable[..., Cluster]):
        cluster = make_cluster()
        await asyncio.to_thread(cluster.start)
        sessions: list[psycopg.Connection] = []
        with pytest.raises(psycopg.OperationalError):
            while True:
                sessions.append(psycopg.connect(cluster.admin_url))
        assert not await is_noticed(cluster, 1)
        for session in sessions:
            session.close()
        await asyncio.to_thread(cluster.stop)
        assert not await is_noticed(cluster, 1)
