"""Scorers on Triton servers that do not answer; on a real server they are tested in tests/inference."""

import asyncio

import pytest

from spotthebot.fed.model import TritonServers
from spotthebot.inference.errors import WorkerUnavailable
from spotthebot.inference.triton.client import TritonClient
from spotthebot.inference.workers.worker import WorkerTimes

pytest.importorskip("tritonclient", reason="tritonclient is not installed: run './stb install models'")


@pytest.fixture
async def servers():
    """One Triton server, which takes connections and says nothing."""

    async def say_nothing(reader, writer):
        await reader.read()
        writer.close()

    async with await asyncio.start_server(say_nothing, "127.0.0.1", 0) as server:
        client = TritonClient("{}:{}".format(*server.sockets[0].getsockname()))
        yield TritonServers([client], WorkerTimes(loading_seconds=0.2, batch_seconds=0.1))
        await client.close()


async def test_a_triton_that_hangs_is_given_up_when_its_time_is_over(servers):
    async with asyncio.timeout(20):
        with pytest.raises(WorkerUnavailable, match=r"no answer of the model 'm' within 0\.2 seconds"):
            await servers.open("m")
        with pytest.raises(WorkerUnavailable, match=r"no answer of the model 'm' within 0\.1 seconds"):
            await servers.ask("m", {})
