"""The jobs of `analytics`: thin, idempotent, taking ids."""

import asyncio
from uuid import UUID

from procrastinate import RetryStrategy

from spotthebot.analytics.clients import Studies
from spotthebot.analytics.settings import AnalyticsSettings
from spotthebot.analytics.use_cases import long_analyses
from spotthebot.kit.client import PeerRefused, PeerUnavailable, ServiceClient
from spotthebot.kit.database import Database
from spotthebot.kit.jobs import Blueprint, JobContext, Jobs

_ATTEMPTS = 8


def _tasks() -> Blueprint:
    tasks = Blueprint()

    @tasks.task(
        name="run_analysis",
        pass_context=True,
        retry=RetryStrategy(
            max_attempts=_ATTEMPTS, exponential_wait=2, retry_exceptions=[PeerUnavailable, PeerRefused]
        ),
    )
    async def run_analysis(context: JobContext, analysis_id: str) -> None:
        """Run an analysis to its end; while a peer does not answer, try again later."""
        database: Database = context.additional_context["database"]
        studies: Studies = context.additional_context["studies"]
        try:
            await long_analyses.run_analysis(database, studies, UUID(analysis_id))
        except (PeerUnavailable, PeerRefused) as error:
            if context.job.attempts >= _ATTEMPTS:
                await long_analyses.fail_analysis(database, UUID(analysis_id), error)
            raise

    return tasks


async def work(settings: AnalyticsSettings) -> None:
    """Run jobs until cancelled."""
    url = settings.database_url.get_secret_value()
    database = Database(url, pool_size=settings.database_pool_size, application_name="spotthebot-analytics-worker")
    key = settings.service_key.get_secret_value()
    try:
        async with (
            ServiceClient("annotation", settings.annotation_url, key) as annotation,
            ServiceClient("conversations", settings.conversations_url, key) as conversations,
        ):
            context = {"database": database, "studies": Studies(annotation, conversations)}
            await Jobs(url, "analytics").work(_tasks(), concurrency=settings.worker_concurrency, context=context)
    finally:
        await asyncio.shield(database.close())
