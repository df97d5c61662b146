"""The composition root of `bots`: the only file that knows all the others."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from spotthebot.bots.api import bots
from spotthebot.bots.clients import Corpora
from spotthebot.bots.model import LoadedBots
from spotthebot.bots.settings import BotsSettings
from spotthebot.bots.tables import IDEMPOTENCY, LINEAGE
from spotthebot.kit.client import ServiceClient
from spotthebot.kit.process import Service
from spotthebot.kit.web.application import build_application


def create_app(settings: BotsSettings) -> FastAPI:
    """Return the application that serves `/v1/bots`."""

    @asynccontextmanager
    async def live(app: FastAPI) -> AsyncIterator[None]:
        key = settings.service_key.get_secret_value()
        async with ServiceClient("conversations", settings.conversations_url, key) as conversations:
            app.state.loaded_bots = LoadedBots(Corpora(conversations))
            yield

    return build_application(
        "bots",
        summary="Registry and hosting of bots: who they are and what they reply.",
        settings=settings,
        routers=[bots.router],
        lineages=[LINEAGE],
        idempotency_table=IDEMPOTENCY,
        lifespan=live,
    )


SERVICE = Service(name="bots", settings=BotsSettings, create_app=create_app, lineage=LINEAGE)
