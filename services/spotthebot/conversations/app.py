"""The composition root of `conversations`: the only file that knows all the others."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from fastapi import FastAPI

from spotthebot.clients import AsyncBots
from spotthebot.contracts.conversations import EventType
from spotthebot.conversations.api import (
    chat_entries,
    chats,
    collections,
    conversations,
    corpora,
    exports,
    mixes,
    partner_sets,
    progress,
    quality,
    searches,
)
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.settings import ConversationsSettings
from spotthebot.conversations.store.events import EVENTS
from spotthebot.conversations.tables import IDEMPOTENCY, LINEAGE
from spotthebot.conversations.use_cases.chats.converse import CHATS
from spotthebot.conversations.use_cases.chats.watch import ChatWatch
from spotthebot.conversations.use_cases.corpora.remove import DELETIONS
from spotthebot.conversations.use_cases.metrics import read_metrics
from spotthebot.conversations.use_cases.turn_loop.maintenance import RUNNERS
from spotthebot.kit.events.router import events_router
from spotthebot.kit.events.subscriptions import subscriptions_of
from spotthebot.kit.jobs import DEFAULT_QUEUE, Jobs
from spotthebot.kit.process import Service
from spotthebot.kit.web.api import build_service
from spotthebot.kit.web.core.new_people import NewPeople

_QUEUES = (RUNNERS, CHATS, DEFAULT_QUEUE, DELETIONS)


def create_app(settings: ConversationsSettings) -> FastAPI:
    """Return the application that serves corpora, collections, partner sets, conversations and subscriptions."""

    @asynccontextmanager
    async def live(app: FastAPI) -> AsyncIterator[None]:
        key = settings.service_key.get_secret_value()
        app.state.jobs = Jobs(settings.database_url.get_secret_value(), "conversations")
        app.state.metrics.sources.use(partial(read_metrics, app.state.database, _QUEUES))
        app.state.new_people = NewPeople(settings)
        app.state.subscriptions = subscriptions_of(settings, EVENTS)
        async with AsyncBots(settings.bots_url, key) as bots:
            app.state.bots = Bots(bots)
            app.state.chat_watch = ChatWatch(app.state.database, settings.chat_poll_seconds)
            watching = asyncio.create_task(app.state.chat_watch.run())
            try:
                yield
            finally:
                watching.cancel()
                await asyncio.gather(watching, return_exceptions=True)

    return build_service(
        "conversations",
        summary="Corpora, collections and the turn loop: who talks to whom, and what was said.",
        settings=settings,
        routers=[
            corpora.router,
            collections.router,
            searches.router,
            mixes.router,
            progress.router,
            partner_sets.router,
            quality.router,
            exports.router,
            conversations.router,
            chats.router,
            chat_entries.router,
            events_router(EventType),
        ],
        lineages=[LINEAGE],
        idempotency_table=IDEMPOTENCY,
        lifespan=live,
    )


SERVICE = Service(
    name="conversations",
    settings=ConversationsSettings,
    create_app=create_app,
    lineage=LINEAGE,
)
