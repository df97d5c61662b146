"""The jobs of `annotation`: thin, idempotent, taking ids."""

import asyncio
from uuid import UUID

from spotthebot.annotation import store
from spotthebot.annotation.clients import Conversations
from spotthebot.annotation.settings import AnnotationSettings
from spotthebot.annotation.use_cases import campaigns
from spotthebot.clients import PEER_TROUBLE, AsyncConversations
from spotthebot.kit.database import LONG_STATEMENT_SECONDS, Database, ReadSession
from spotthebot.kit.jobs import Arguments, JobContext, Jobs, Task, WorkerContext
from spotthebot.kit.process import Worker


async def _build_campaign(context: JobContext, campaign_id: str) -> None:
    """Make a campaign's packages; while `conversations` does not answer, try again later."""
    database: Database = context.additional_context["database"]
    conversations: Conversations = context.additional_context["conversations"]
    await campaigns.build_campaign(database, conversations, UUID(campaign_id))


async def _fail_campaign(worker: WorkerContext, arguments: Arguments, reason: str) -> None:
    database: Database = worker["database"]
    async with database.write() as session:
        await store.campaigns.fail_campaign(session, UUID(arguments["campaign_id"]), reason)


async def _list_building(session: ReadSession) -> list[Arguments]:
    return [{"campaign_id": str(campaign_id)} for campaign_id in await store.campaigns.list_building(session)]


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
        async with AsyncConversations(settings.conversations_url, key) as conversations:
            context = {"database": database, "conversations": Conversations(conversations)}
            await Jobs(url, "annotation").work(TASKS, concurrency=2, context=context)
    finally:
        await asyncio.shield(database.close())


WORKER = Worker(AnnotationSettings, work)
