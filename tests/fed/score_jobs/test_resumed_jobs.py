"""A score job whose worker died or whose model hangs: another one goes on, and never mixes the scores of two models."""

import asyncio
import os
import shutil
import signal
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from spotthebot.fed.clients import Collections
from spotthebot.fed.dimension_sets.domain.bipartite_dimensions import BIPARTITE
from spotthebot.fed.model import open_scorers
from spotthebot.fed.score_jobs.use_cases import STEP_JOBS, prepare_score_job
from spotthebot.fed.score_sets import store as score_sets_store
from spotthebot.fed.score_sets.use_cases import read_contexts
from spotthebot.fed.settings import FedSettings
from spotthebot.inference.errors import WorkerUnavailable
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.jobs.tasks import attempt
from tests.factories import tiny_models
from tests.factories.lazy_imports import needs_models
from tests.factories.studies import conversation, import_conversations
from tests.factories.worker_processes import workers_of

pytestmark = needs_models


class WorkerDied(asyncio.CancelledError):
    """What stands for a worker that was killed."""


@pytest.fixture
async def database(database_urls):
    """A database of its own, which no worker looks at."""
    opened = Database(database_urls.app["fed"], pool_size=2)
    yield opened
    await opened.close()


@pytest.fixture
async def collections(suite):
    return Collections(await suite.conversations("admin"))


@pytest.fixture
async def job_id(suite, database):
    held = [conversation(f"c{number}", "X", "Y") for number in range(4)]
    collection = UUID(await import_conversations(suite, held))
    job = {"collection_id": str(collection), "scorer": {"model": "scorer", "mode": "followup_mean"}, "resamples": 100}
    request = {"job": job, "dimensions": [vars(each) for each in BIPARTITE.dimensions]}
    async with database.write() as session:
        return await STEP_JOBS.store.add_job(
            session, "scores", request, subject_id=collection, version=version("spotthebot")
        )


@pytest.fixture
def settings(database_urls, tmp_path):
    """The settings of a worker, given some that differ."""
    url = database_urls.app["fed"]

    def settings_with(**changes):
        return FedSettings(database_url=url, service_key="-", models_folder=tmp_path, device="cpu", **changes)

    return settings_with


@pytest.fixture
def run(database, collections, job_id, settings):
    """Run the job as the queue does after some `attempts`, and return the steps that were computed.

    `before` maps a step to what happens just before it is computed.
    """

    async def run_job(before=None, *, attempts=0, **changes):
        computed = []
        async with open_scorers(settings(**changes)) as scorers:

            async def prepare(_, job):
                prepared = await prepare_score_job(database, collections, scorers, job, conversations_per_step=2)
                compute = prepared.work.compute

                async def watched(step):
                    if before and step in before:
                        before[step]()
                    computed.append(step)
                    return await compute(step)

                object.__setattr__(prepared.work, "compute", watched)
                return prepared

            job = SimpleNamespace(id=1, attempts=attempts)
            context: Any = SimpleNamespace(job=job, additional_context={"database": database})
            await attempt(STEP_JOBS.task(prepare), context, {"job_id": str(job_id)})
        return computed

    return run_job


def die():
    raise WorkerDied


async def scores_of(database, job_id):
    return {(each.conversation_id, each.turn): each.scores for each in await read_contexts(database, job_id)}


async def test_a_model_that_hangs_is_killed_and_stored_steps_are_not_computed_again(run, database, job_id, tmp_path):
    tiny_models.gpt2(tmp_path / "scorer", positions=256)

    def stop():
        os.kill(workers_of(tmp_path)[0].pid, signal.SIGSTOP)

    with pytest.raises(WorkerUnavailable, match="gave no answer within 3 seconds"):
        await run({1: stop}, model_batch_seconds=3)
    assert workers_of(tmp_path) == []
    before = await scores_of(database, job_id)
    assert len(before) == 2 * 5
    assert await run() == [1]
    after = await scores_of(database, job_id)
    assert len(after) == 4 * 5
    assert {key: after[key] for key in before} == before
    async with database.read() as session:
        assert (await score_sets_store.get_job(session, job_id)).state == "complete"


async def test_a_model_that_was_replaced_scores_all_of_it_again(run, database, job_id, tmp_path):
    tiny_models.gpt2(tmp_path / "scorer", positions=256)
    with pytest.raises(WorkerDied):
        await run({1: die})
    before = await scores_of(database, job_id)
    shutil.rmtree(tmp_path / "scorer")
    tiny_models.llama(tmp_path / "scorer", positions=256)
    assert await run() == [0, 1]
    after = await scores_of(database, job_id)
    assert len(after) == 4 * 5
    assert not {key for key in before if after[key] == before[key]}


async def test_a_job_whose_model_hangs_to_the_last_attempt_fails_and_says_so(run, database, job_id, tmp_path):
    tiny_models.gpt2(tmp_path / "scorer", positions=256)
    with pytest.raises(WorkerUnavailable):
        await run(attempts=8, model_loading_seconds=0.1)
    async with database.read() as session:
        job = await score_sets_store.get_job(session, job_id)
    said = "The model 'scorer' was not loaded within 0.1 seconds, and its process was ended."
    assert (job.state, job.failure) == ("failed", said)
