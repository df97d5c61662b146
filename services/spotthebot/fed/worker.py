"""The jobs of `fed`: step jobs that score collections."""

import asyncio

from spotthebot.clients import AsyncConversations
from spotthebot.fed.clients import Collections
from spotthebot.fed.events.store import EVENTS
from spotthebot.fed.events.use_cases import find_no_team
from spotthebot.fed.likelihoods import store as likelihoods_store
from spotthebot.fed.model import open_scorers
from spotthebot.fed.score_jobs.use_cases import STEP_JOBS, prepare_score_job
from spotthebot.fed.settings import FedSettings
from spotthebot.kit.database.retention import retention_of
from spotthebot.kit.database.sessions import LONG_STATEMENT_SECONDS, Database
from spotthebot.kit.events.dispatcher import dispatcher_of
from spotthebot.kit.jobs.queue import Jobs
from spotthebot.kit.jobs.tasks import WorkerContext
from spotthebot.kit.service.process import Worker
from spotthebot.kit.step_jobs.lifecycle import StepJob
from spotthebot.kit.step_jobs.runner import PreparedWork


async def _prepare(context: WorkerContext, job: StepJob) -> PreparedWork:
    return await prepare_score_job(
        context["database"],
        context["collections"],
        context["scorers"],
        job,
        conversations_per_step=context["conversations_per_step"],
    )


TASKS = (STEP_JOBS.task(_prepare),)


async def work(settings: FedSettings) -> None:
    """Run the jobs of `fed` until cancelled."""
    url = settings.database_url.get_secret_value()
    database = Database(
        url,
        pool_size=settings.database_pool_size,
        application_name="spotthebot-fed-worker",
        statement_seconds=LONG_STATEMENT_SECONDS,
    )
    key = settings.service_key.get_secret_value()
    try:
        async with (
            AsyncConversations(settings.conversations_url, key) as conversations,
            open_scorers(settings) as scorers,
            settings.make_http() as http,
        ):
            context = {
                "database": database,
                "collections": Collections(conversations),
                "scorers": scorers,
                "conversations_per_step": settings.conversations_per_step,
            }
            jobs = Jobs(url, "fed").work(TASKS, concurrency=settings.worker_concurrency, context=context)
            async with asyncio.TaskGroup() as group:
                old_likelihoods = likelihoods_store.old_likelihoods(settings.likelihood_retention_days)
                group.create_task(retention_of(settings, database, "fed", old_likelihoods).run())
                group.create_task(dispatcher_of(settings, database, EVENTS, find_no_team, http).run())
                group.create_task(jobs)
    finally:
        await asyncio.shield(database.close())


WORKER = Worker(FedSettings, work)
