"""Control of the models on a Triton server: a model that stopped answering is loaded again, however long that takes."""

import asyncio

from spotthebot.inference.triton.control import TritonControl
from tests.factories.stand_in_triton import stand_in_triton


class TestRecover:
    async def test_loads_a_model_that_takes_longer_than_any_caller_waits(self):
        """A bot's time-out is shorter than loading: each of its questions gives up."""
        given_up = 0
        async with stand_in_triton() as triton, TritonControl(triton.address, probe={"turns": []}) as control:
            triton.load_seconds = 1.0
            async with asyncio.timeout(20):
                while "gpt" not in triton.loaded:
                    try:
                        assert await asyncio.wait_for(control.recover("gpt"), 0.2)
                    except TimeoutError:
                        given_up += 1
        assert given_up >= 2
        assert triton.loads == 1

    async def test_loads_once_for_many_calls_at_a_time(self):
        async with stand_in_triton() as triton, TritonControl(triton.address, probe={"turns": []}) as control:
            triton.load_seconds = 0.2
            assert await asyncio.gather(*(control.recover("gpt") for _ in range(8))) == [True] * 8
            assert triton.loads == 1
