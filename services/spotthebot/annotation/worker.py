"""The jobs of `annotation`: thin, idempotent, taking ids."""

import asyncio
from uuid import UUID

from procrastinate import RetryStrategy

from spotthebot.annotation.clients import Conversations
from spotthebot.annotation.settings import AnnotationSettings
from spotthebot.annotation.use_cases import campaigns
from spotthebot.clients import PEER_TROUBLE, AsyncConversations
from spotthebot.kit.database import Database
from spotthebot.kit.jobs import Blueprint, JobContext, Jobs


def _tasks() -> Blueprint:
    tasks = Blueprint()

    @tasks.task(
        name="build_campaign",
        pass_context=True,
        retry=RetryStrategy(max_attempts=10, exponential_wait=2, retry_exceptions=PEER_TROUBLE),
    )
    async def build_campaign(context: JobContext, campaign_id: str) -> None:
        """Make a campaign's packages; while `conversations` does not answer, try again later."""
        database: Database = context.additional_context["database"]
        conversations: Conversations = context.additional_context["conversations"]
        await campaigns.build_campaign(database, conversations, UUID(campaign_id))

    return tasks


async def work(settings: AnnotationSettings) -> None:
    """Run jobs until cancelled."""
    url = settings.database_url.get_secret_value()
    database = Database(url, pool_size=settings.database_pool_size, application_name="spotthebot-annotation-worker")
    key = settings.service_key.get_secret_value()
    try:
        async with AsyncConversations(settings.conversations_url, key) as conversations:
            context = {"database": database, "conversations": Conversations(conversations)}
            await Jobs(url, "annotation").work(_tasks(), concurrency=2, context=context)
    finally:
        await asyncio.shield(database.close())
