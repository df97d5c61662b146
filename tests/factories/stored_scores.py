"""Score sets for tests, stored as the worker of `fed` leaves them."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import insert

from spotthebot.contracts.fed.score_jobs import BaselineOut, DimensionScoresOut, ScoreJobIn
from spotthebot.contracts.fed.scorers import ScorerIn
from spotthebot.fed.score_sets.domain import ScoredContext
from spotthebot.fed.score_sets.store import put_scores
from spotthebot.fed.score_sets.tables import STEP_JOBS
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.ids import new_id
from tests.factories.running_suite import RunningSuite


async def store_scores(
    suite: RunningSuite,
    collection: str,
    contexts: Sequence[ScoredContext],
    *,
    dimension: str = "fluent",
    baseline: BaselineOut | None = None,
) -> UUID:
    """Store a complete score job with these scores on one dimension; return its id."""
    job_id = new_id()
    summary = DimensionScoresOut(dimension=dimension, bots=(), baseline=baseline, confidence_level=0.95, method="")
    asked = ScoreJobIn(collection_id=UUID(collection), scorer=ScorerIn(model="tiny"))
    row = {
        "id": job_id,
        "kind": "scores",
        "subject_id": asked.collection_id,
        "request": {"job": asked.model_dump(mode="json")},
        "state": "complete",
        "steps": 1,
        "version": "0",
        "result": {"dimensions": [summary.model_dump(mode="json")], "repeated_texts": []},
    }
    database = Database(suite.database.app["fed"], pool_size=1)
    async with database.write() as session:
        await session.execute(insert(STEP_JOBS.jobs).values(row))
        await put_scores(session, job_id, contexts, ())
    await database.close()
    return job_id
