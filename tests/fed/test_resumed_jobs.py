"""A score job whose worker died: another one goes on, and never mixes the scores of two models."""

import shutil
from importlib.metadata import version
from uuid import UUID

import pytest

from spotthebot.fed import store
from spotthebot.fed.clients import Collections
from spotthebot.fed.domain.bipartite_dimensions import BIPARTITE
from spotthebot.fed.model import open_scorers
from spotthebot.fed.use_cases.score_jobs import STEP_JOBS, prepare_score_job
from spotthebot.fed.use_cases.stored_contexts import read_contexts
from spotthebot.kit.database import Database
from tests.factories import tiny_models
from tests.factories.lazy_imports import needs_models
from tests.factories.studies import conversation, import_conversations

pytestmark = needs_models


class WorkerDied(Exception):
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
def run(database, collections, job_id, tmp_path):
    """Run the job with a model folder's scorer; `dies_at` is a step that its worker does not survive."""

    async def run_job(dies_at=None):
        computed = []
        async with open_scorers(tmp_path, (), idle_seconds=60, device="cpu", dtype="auto") as scorers:

            async def prepare(job):
                prepared = await prepare_score_job(database, collections, scorers, job, conversations_per_step=2)
                compute = prepared.work.compute

                async def dying(step):
                    if step == dies_at:
                        raise WorkerDied
                    computed.append(step)
                    return await compute(step)

                object.__setattr__(prepared.work, "compute", dying)
                return prepared

            await STEP_JOBS.run(database, job_id, prepare)
        return computed

    return run_job


async def scores_of(database, job_id):
    return {(each.conversation_id, each.turn): each.scores for each in await read_contexts(database, job_id)}


async def test_steps_that_were_stored_are_not_computed_again(run, database, job_id, tmp_path):
    tiny_models.gpt2(tmp_path / "scorer", positions=256)
    with pytest.raises(WorkerDied):
        await run(dies_at=1)
    before = await scores_of(database, job_id)
    assert len(before) == 2 * 5
    assert await run() == [1]
    after = await scores_of(database, job_id)
    assert len(after) == 4 * 5
    assert {key: after[key] for key in before} == before
    async with database.read() as session:
        assert (await store.score_sets.get_job(session, job_id)).state == "complete"


async def test_a_model_that_was_replaced_scores_all_of_it_again(run, database, job_id, tmp_path):
    tiny_models.gpt2(tmp_path / "scorer", positions=256)
    with pytest.raises(WorkerDied):
        await run(dies_at=1)
    before = await scores_of(database, job_id)
    shutil.rmtree(tmp_path / "scorer")
    tiny_models.llama(tmp_path / "scorer", positions=256)
    assert await run() == [0, 1]
    after = await scores_of(database, job_id)
    assert len(after) == 4 * 5
    assert not {key for key in before if after[key] == before[key]}
