"""Notices a PostgreSQL server that hangs: it accepts connections, as the kernel does for it, and says nothing.

The question is the protocol's SSLRequest, which the server answers with one byte before it asks who we are. libpq is of
no use here: where the server hangs, giving up a question of libpq's hangs as well.
"""

import asyncio
import contextlib
from functools import partial

from spotthebot.kit.processes.health import processor_seconds_of, wait_until_hung
from spotthebot.kit.processes.spec import HealthLimits
from spotthebot.local.postgres.cluster import Cluster

_SSL_REQUEST = bytes.fromhex("0000000804d2162f")
_LIMITS = HealthLimits()


async def wait_until_server_hangs(cluster: Cluster, limits: HealthLimits = _LIMITS) -> None:
    """Return when the server hangs; one that does not run is not asked."""
    await wait_until_hung(limits, partial(_answers, cluster), partial(_processor_seconds, cluster))


async def _answers(cluster: Cluster) -> bool:
    if not cluster.running:
        return True
    with contextlib.suppress(OSError):
        reader, writer = await asyncio.open_connection("127.0.0.1", cluster.port)
        try:
            writer.write(_SSL_REQUEST)
            return bool(await reader.read(1))
        finally:
            writer.close()
    return False


def _processor_seconds(cluster: Cluster) -> float:
    return processor_seconds_of(cluster.pid) if cluster.running else 0.0
