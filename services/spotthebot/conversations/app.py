"""The composition root of `conversations`: the only module that imports all other modules."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from fastapi import FastAPI

from spotthebot.clients import AsyncBots
from spotthebot.contracts.conversations.events import EventType
from spotthebot.conversations.chats.api import chats as chats_api
from spotthebot.conversations.chats.api import people as people_api
from spotthebot.conversations.chats.api import ratings as ratings_api
from spotthebot.conversations.chats.use_cases.turns import CHATS
from spotthebot.conversations.chats.use_cases.watch import count_events
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.collections import api as collections_api
from spotthebot.conversations.control import api as control_api
from spotthebot.conversations.conversations import api as conversations_api
from spotthebot.conversations.corpora import api as corpora_api
from spotthebot.conversations.events.store import EVENTS
from spotthebot.conversations.exports import api as exports_api
from spotthebot.conversations.imports import api as imports_api
from spotthebot.conversations.metadata import IDEMPOTENCY
from spotthebot.conversations.metrics.use_cases import read_metrics
from spotthebot.conversations.mixes import api as mixes_api
from spotthebot.conversations.participants import api as participants_api
from spotthebot.conversations.performance import api as performance_api
from spotthebot.conversations.plans import api as plans_api
from spotthebot.conversations.progress import api as progress_api
from spotthebot.conversations.quality import api as quality_api
from spotthebot.conversations.removals import api as removals_api
from spotthebot.conversations.removals.use_cases import DELETIONS
from spotthebot.conversations.resources import Resources
from spotthebot.conversations.searches import api as searches_api
from spotthebot.conversations.settings import ConversationsSettings
from spotthebot.conversations.tables import LINEAGE
from spotthebot.conversations.turn_loop.use_cases.maintenance import RUNNERS
from spotthebot.kit.events.router import events_router
from spotthebot.kit.events.subscriptions import subscriptions_of
from spotthebot.kit.jobs.queue import Jobs
from spotthebot.kit.jobs.tasks import DEFAULT_QUEUE
from spotthebot.kit.service.process import Service
from spotthebot.kit.waits.count_watch import CountWatch
from spotthebot.kit.web.api import build_service
from spotthebot.kit.web.core.new_people import NewPeople
from spotthebot.kit.web.core.resources import core_of
from spotthebot.kit.web.database.resources import database_of

_QUEUES = (RUNNERS, CHATS, DEFAULT_QUEUE, DELETIONS)


def create_app(settings: ConversationsSettings) -> FastAPI:
    """Return the application that serves corpora, collections, partner sets, conversations and subscriptions."""

    @asynccontextmanager
    async def live(app: FastAPI) -> AsyncIterator[None]:
        key = settings.service_key.get_secret_value()
        database = database_of(app).pool
        core_of(app).metrics.sources.use(partial(read_metrics, database, _QUEUES))
        async with AsyncBots(settings.bots_url, key) as bots:
            chat_watch = CountWatch(partial(count_events, database), settings.chat_poll_seconds)
            app.state.resources = Resources(
                settings=settings,
                jobs=Jobs(settings.database_url.get_secret_value(), "conversations"),
                new_people=NewPeople(settings),
                subscriptions=subscriptions_of(settings, EVENTS),
                bots=Bots(bots),
                chat_watch=chat_watch,
            )
            watching = asyncio.create_task(chat_watch.run())
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
            corpora_api.router,
            removals_api.router,
            plans_api.router,
            collections_api.router,
            control_api.router,
            imports_api.router,
            conversations_api.collection_router,
            searches_api.router,
            mixes_api.router,
            progress_api.router,
            participants_api.router,
            quality_api.router,
            exports_api.router,
            imports_api.upload_router,
            performance_api.router,
            exports_api.conversation_router,
            conversations_api.router,
            chats_api.router,
            people_api.router,
            ratings_api.router,
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
