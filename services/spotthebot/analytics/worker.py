"""The jobs of `analytics`: step jobs that compute an analysis, and looks at open campaigns for verdicts."""

import asyncio
import contextlib

from spotthebot.analytics.analyses.use_cases import STEP_JOBS, prepare_analysis
from spotthebot.analytics.clients.campaign_data import CampaignData
from spotthebot.analytics.clients.running_campaigns import RunningCampaigns
from spotthebot.analytics.kept_results.use_cases.compute_threads import ComputeThreads
from spotthebot.analytics.settings import AnalyticsSettings
from spotthebot.analytics.verdicts.use_cases import Verdicts, VerdictWatch
from spotthebot.clients import AsyncAnnotation, AsyncConversations
from spotthebot.kit.database.retention import retention_of
from spotthebot.kit.database.sessions import LONG_STATEMENT_SECONDS, Database
from spotthebot.kit.jobs.queue import Jobs
from spotthebot.kit.jobs.tasks import WorkerContext
from spotthebot.kit.service.process import Worker
from spotthebot.kit.step_jobs.lifecycle import StepJob
from spotthebot.kit.step_jobs.runner import PreparedWork


async def _prepare(context: WorkerContext, job: StepJob) -> PreparedWork:
    campaign_data: CampaignData = context["studies"]
    return await prepare_analysis(campaign_data, job)


TASKS = (STEP_JOBS.task(_prepare),)


async def work(settings: AnalyticsSettings) -> None:
    """Run the jobs of `analytics` until cancelled."""
    url = settings.database_url.get_secret_value()
    database = Database(
        url,
        pool_size=settings.database_pool_size,
        application_name="spotthebot-analytics-worker",
        statement_seconds=LONG_STATEMENT_SECONDS,
    )
    key = settings.service_key.get_secret_value()
    try:
        async with (
            contextlib.AsyncExitStack() as stack,
            AsyncAnnotation(settings.annotation_url, key) as annotation,
            AsyncConversations(settings.conversations_url, key) as conversations,
        ):
            campaign_data, threads = CampaignData(annotation, conversations), ComputeThreads()
            stack.callback(threads.close)
            context = {"database": database, "studies": campaign_data}
            verdicts = Verdicts(database, campaign_data, threads)
            watch = VerdictWatch(verdicts, RunningCampaigns(annotation), settings.verdict_seconds)
            jobs = Jobs(url, "analytics").work(TASKS, concurrency=settings.worker_concurrency, context=context)
            async with asyncio.TaskGroup() as group:
                group.create_task(retention_of(settings, database, "analytics").run())
                group.create_task(watch.run())
                group.create_task(jobs)
    finally:
        await asyncio.shield(database.close())


WORKER = Worker(AnalyticsSettings, work)
