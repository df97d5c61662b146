"""The composition root of `conversations`: the only file that knows all the others."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from spotthebot.conversations import worker
from spotthebot.conversations.api import collections, conversations, corpora
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.settings import ConversationsSettings
from spotthebot.conversations.tables import IDEMPOTENCY, LINEAGE
from spotthebot.kit.client import ServiceClient
from spotthebot.kit.jobs import Jobs
from spotthebot.kit.process import Service
from spotthebot.kit.web.application import build_application


def create_app(settings: ConversationsSettings) -> FastAPI:
    """Return the application that serves `/v1/corpora`, `/v1/collections` and `/v1/conversations`."""

    @asynccontextmanager
    async def live(app: FastAPI) -> AsyncIterator[None]:
        key = settings.service_key.get_secret_value()
        app.state.jobs = Jobs(settings.database_url.get_secret_value(), "conversations")
        async with ServiceClient("bots", settings.bots_url, key) as bots:
            app.state.bots = Bots(bots)
            yield

    return build_application(
        "conversations",
        summary="Corpora, collections and the turn loop: who talks to whom, and what was said.",
        settings=settings,
        routers=[corpora.router, collections.router, conversations.router],
        lineages=[LINEAGE],
        idempotency_table=IDEMPOTENCY,
        lifespan=live,
    )


SERVICE = Service(
    name="conversations",
    settings=ConversationsSettings,
    create_app=create_app,
    lineage=LINEAGE,
    work=worker.work,
)
