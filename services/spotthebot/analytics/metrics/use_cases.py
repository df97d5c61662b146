"""The metrics of `analytics` for its operator."""

from collections.abc import Sequence

from prometheus_client.core import Metric

from spotthebot.analytics.analyses.use_cases import STEP_JOBS
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.jobs.depths import read_job_queues
from spotthebot.kit.telemetry.queue_metrics import queue_families, state_family

_SCHEMA = "analytics"


async def read_metrics(database: Database, queues: Sequence[str]) -> list[Metric]:
    """Return the metrics of the queue of analyses, and the number of unfinished analyses."""
    async with database.read() as session:
        jobs = await read_job_queues(session, _SCHEMA, queues)
        active = await STEP_JOBS.store.count_active(session)
    return [
        *queue_families(_SCHEMA, jobs),
        state_family("spotthebot_analyses", "Analyses that have not ended, by state.", "state", active),
    ]
