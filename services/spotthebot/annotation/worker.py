"""The jobs of `annotation`. Each job gets only ids, calls a use case, and can be repeated."""

import asyncio
from datetime import UTC, datetime
from uuid import UUID

from procrastinate import JobContext

from spotthebot.annotation.campaign_setup.use_cases.packages import build_campaign
from spotthebot.annotation.campaigns import store as campaigns_store
from spotthebot.annotation.clients import Conversations
from spotthebot.annotation.events.store import EVENTS
from spotthebot.annotation.events.use_cases import find_frontend
from spotthebot.annotation.leases import store as leases_store
from spotthebot.annotation.settings import AnnotationSettings
from spotthebot.clients import PEER_TROUBLE, AsyncConversations
from spotthebot.kit.database.retention import retention_of
from spotthebot.kit.database.sessions import DATABASE_TROUBLE, LONG_STATEMENT_SECONDS, Database, ReadSession
from spotthebot.kit.events.dispatcher import dispatcher_of
from spotthebot.kit.jobs.queue import Jobs
from spotthebot.kit.jobs.tasks import Arguments, Task, WorkerContext
from spotthebot.kit.service.process import Worker
from spotthebot.kit.telemetry.logs import get_logger
from spotthebot.kit.waits.cancellation import pause

_log = get_logger(__name__)


async def _build_campaign(context: JobContext, campaign_id: str) -> None:
    """Make a campaign's packages; retry later while `conversations` is unavailable."""
    database: Database = context.additional_context["database"]
    conversations: Conversations = context.additional_context["conversations"]
    await build_campaign(database, conversations, UUID(campaign_id))


async def _fail_campaign(worker: WorkerContext, arguments: Arguments, reason: str) -> None:
    database: Database = worker["database"]
    async with database.write() as session:
        await campaigns_store.fail_campaign(session, UUID(arguments["campaign_id"]), reason)


async def _list_building(session: ReadSession) -> list[Arguments]:
    return [{"campaign_id": str(campaign_id)} for campaign_id in await campaigns_store.list_building(session)]


TASKS = (
    Task(
        "build_campaign",
        _build_campaign,
        fail=_fail_campaign,
        list_unfinished=_list_building,
        retried=PEER_TROUBLE,
        max_retries=9,
    ),
)


async def work(settings: AnnotationSettings) -> None:
    """Run jobs until cancelled."""
    url = settings.database_url.get_secret_value()
    database = Database(
        url,
        pool_size=settings.database_pool_size,
        application_name="spotthebot-annotation-worker",
        statement_seconds=LONG_STATEMENT_SECONDS,
    )
    key = settings.service_key.get_secret_value()
    try:
        async with (
            AsyncConversations(settings.conversations_url, key) as conversations,
            settings.make_http() as http,
        ):
            context = {"database": database, "conversations": Conversations(conversations)}
            async with asyncio.TaskGroup() as group:
                group.create_task(retention_of(settings, database, "annotation").run())
                group.create_task(dispatcher_of(settings, database, EVENTS, find_frontend, http).run())
                group.create_task(_end_leases(database, settings.lease_check_seconds))
                group.create_task(Jobs(url, "annotation").work(TASKS, concurrency=2, context=context))
    finally:
        await asyncio.shield(database.close())


async def _end_leases(database: Database, seconds: float) -> None:
    """End expired leases periodically."""
    while True:
        try:
            async with database.write() as session:
                await leases_store.expire_leases(session, datetime.now(UTC))
        except DATABASE_TROUBLE as error:
            _log.warning("leases.not_ended", error=type(error).__name__)
        await pause(seconds)


WORKER = Worker(AnnotationSettings, work)
