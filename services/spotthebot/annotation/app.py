"""The composition root of `annotation`: the only file that knows all the others."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from spotthebot.annotation.api import annotations, annotators, assignments, campaigns, protocols
from spotthebot.annotation.clients import Conversations
from spotthebot.annotation.settings import AnnotationSettings
from spotthebot.annotation.tables import IDEMPOTENCY, LINEAGE
from spotthebot.clients import AsyncConversations
from spotthebot.kit.jobs import Jobs
from spotthebot.kit.process import Service
from spotthebot.kit.web.api import build_service


def create_app(settings: AnnotationSettings) -> FastAPI:
    """Return the application that serves `/v1/protocols`, `/v1/campaigns` and `/v1/assignments`."""

    @asynccontextmanager
    async def live(app: FastAPI) -> AsyncIterator[None]:
        key = settings.service_key.get_secret_value()
        app.state.jobs = Jobs(settings.database_url.get_secret_value(), "annotation")
        async with AsyncConversations(settings.conversations_url, key) as conversations:
            app.state.conversations = Conversations(conversations)
            yield

    return build_service(
        "annotation",
        summary="The task API: protocols, campaigns, packages, assignments and annotations.",
        settings=settings,
        routers=[
            campaigns.router,
            assignments.router,
            annotators.router,
            annotations.router,
            protocols.router,
        ],
        lineages=[LINEAGE],
        idempotency_table=IDEMPOTENCY,
        lifespan=live,
    )


SERVICE = Service(
    name="annotation",
    settings=AnnotationSettings,
    create_app=create_app,
    lineage=LINEAGE,
)
