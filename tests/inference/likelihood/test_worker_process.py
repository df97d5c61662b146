import asyncio

import pytest

from spotthebot.inference.errors import RequestRefused
from spotthebot.inference.models.likelihood.kind import KIND, load
from spotthebot.inference.models.likelihood.requests import LikelihoodRequest
from spotthebot.inference.workers.pool import ModelWorkers
from spotthebot.inference.workers.worker import WorkerModel
from tests.factories import tiny_models
from tests.factories.lazy_imports import needs_models

pytestmark = needs_models


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_models.gpt2(tmp_path_factory.mktemp("gpt2"))


@pytest.fixture
async def workers():
    made = ModelWorkers()
    yield made
    await made.close()


async def reason_of_refusal(asking):
    with pytest.raises(RequestRefused) as refused:
        await asking
    return str(refused.value)


class TestWorkerProcess:
    async def test_gives_the_likelihoods_that_the_model_gives_in_process(self, workers, folder):
        """Tokenizer and attention are set up in a forked process here; a request too long for the model fails alone."""
        scorer = WorkerModel(KIND, str(folder), max_queue_delay_ms=50.0)
        turns = [("Hello.",), ("Hi!", "Let us get a coffee.")]
        requests = [LikelihoodRequest(each, ("That is good.", "Why?"), tokens=True).to_json() for each in turns]
        long = LikelihoodRequest(("bread " * 99,), ("Why?",)).to_json()
        *answers, refused = await asyncio.gather(
            *(workers.infer(scorer, each) for each in requests), reason_of_refusal(workers.infer(scorer, long))
        )
        assert "over_long" in refused
        model = load(str(folder))
        for answer, request in zip(answers, requests, strict=True):
            (expected,) = model.run([model.parse(request)])
            for mine, its in zip(answer["contexts"][0]["followups"], expected["contexts"][0]["followups"], strict=True):
                assert mine["token_log_probabilities"] == pytest.approx(its["token_log_probabilities"], abs=1e-5)
