"""The jobs of `conversations`: thin, idempotent, taking ids."""

import asyncio
from uuid import UUID

from procrastinate import RetryStrategy

from spotthebot.conversations import use_cases
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.domain.errors import BotsAway
from spotthebot.conversations.settings import ConversationsSettings
from spotthebot.kit.client import PeerRefused, PeerUnavailable, ServiceClient
from spotthebot.kit.database import Database
from spotthebot.kit.jobs import Blueprint, JobContext, Jobs

_ATTEMPTS = 8


def _tasks() -> Blueprint:
    tasks = Blueprint()

    @tasks.task(
        name="hold_conversations",
        pass_context=True,
        retry=RetryStrategy(
            max_attempts=_ATTEMPTS, exponential_wait=2, retry_exceptions=[BotsAway, PeerUnavailable, PeerRefused]
        ),
    )
    async def hold_conversations(context: JobContext, conversation_ids: list[str]) -> None:
        """Hold a batch of conversations to their end; while bots do not answer, try again later."""
        database: Database = context.additional_context["database"]
        bots: Bots = context.additional_context["bots"]
        ids = [UUID(each) for each in conversation_ids]
        try:
            await use_cases.hold_conversations(database, bots, ids)
        except (BotsAway, PeerUnavailable, PeerRefused) as error:
            if context.job.attempts >= _ATTEMPTS:
                await use_cases.fail_conversations(database, ids, str(error))
            raise

    return tasks


async def work(settings: ConversationsSettings) -> None:
    """Run jobs until cancelled."""
    url = settings.database_url.get_secret_value()
    database = Database(url, pool_size=settings.database_pool_size, application_name="spotthebot-conversations-worker")
    key = settings.service_key.get_secret_value()
    try:
        async with ServiceClient("bots", settings.bots_url, key) as bots:
            context = {"database": database, "bots": Bots(bots)}
            await Jobs(url, "conversations").work(_tasks(), concurrency=settings.worker_concurrency, context=context)
    finally:
        await asyncio.shield(database.close())
