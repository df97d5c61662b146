"""The metrics of `fed` for its operator."""

from collections.abc import Sequence

from prometheus_client.core import GaugeMetricFamily, Metric

from spotthebot.fed.metrics import store as metrics_store
from spotthebot.fed.score_jobs.use_cases import STEP_JOBS
from spotthebot.kit.database.sessions import Database
from spotthebot.kit.events.depths import read_event_queues
from spotthebot.kit.jobs.depths import read_job_queues
from spotthebot.kit.telemetry.queue_metrics import queue_families, state_family

_SCHEMA = "fed"


async def read_metrics(database: Database, queues: Sequence[str]) -> list[Metric]:
    """Return the metrics of queues, score jobs and scoring speed."""
    async with database.read() as session:
        jobs = await read_job_queues(session, _SCHEMA, queues)
        events = await read_event_queues(session, _SCHEMA)
        active = await STEP_JOBS.store.count_active(session)
        scored = await metrics_store.count_scored_contexts(session)
    return [
        *queue_families(_SCHEMA, jobs, events),
        state_family("spotthebot_score_jobs", "Score jobs that have not ended, by state.", "state", active),
        GaugeMetricFamily(
            "spotthebot_contexts_scored_last_minute", "Contexts that jobs scored in the last minute.", value=scored
        ),
    ]
