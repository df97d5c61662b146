"""Models in worker processes with dynamic batching."""

import asyncio
from pathlib import Path

from spotthebot.inference.models import dialogue
from spotthebot.inference.workers import ModelWorkers, WorkerModel
from tests.factories.talking_models import talking_gpt2
from tests.factories.worker_processes import workers_of


class TestModelWorkers:
    async def test_answer_together_what_waits_together(self, tmp_path: Path):
        model = WorkerModel(dialogue.KIND, str(talking_gpt2(tmp_path / "made")), device="cpu", max_batch_size=16)
        workers = ModelWorkers()
        try:
            await workers.load(model)
            request = {"turns": ["Hello."], "max_new_tokens": 4}
            replies = await asyncio.gather(*(workers.infer(model, request | {"seed": seed}) for seed in range(64)))
            alone = [await workers.infer(model, request | {"seed": seed}) for seed in range(4)]
            counted = workers.statistics(model)
        finally:
            await workers.close()
        assert replies[:4] == alone
        assert counted is not None
        assert counted.requests == 68
        assert counted.batches <= 4 + 8  # 64 in batches of 16, the last ones alone
        assert workers_of(tmp_path) == []

    async def test_let_a_model_go_that_nobody_asks(self, tmp_path: Path):
        model = WorkerModel(dialogue.KIND, str(talking_gpt2(tmp_path / "made")), device="cpu")
        workers = ModelWorkers(idle_seconds=0.2)
        try:
            first = await workers.infer(model, {"turns": ["Hello."], "max_new_tokens": 4})
            async with asyncio.timeout(10):
                while workers_of(tmp_path):
                    await asyncio.sleep(0.05)
            assert workers.statistics(model) is None
            assert await workers.infer(model, {"turns": ["Hello."], "max_new_tokens": 4}) == first
        finally:
            await workers.close()
