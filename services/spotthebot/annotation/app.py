"""The composition root of `annotation`: the only file that knows all the others."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from fastapi import FastAPI

from spotthebot.annotation.api import (
    annotations,
    annotators,
    assignments,
    campaigns,
    entries,
    exports,
    payments,
    protocols,
    reviews,
    training_attempts,
    trainings,
)
from spotthebot.annotation.api.deps import FRONTENDS
from spotthebot.annotation.clients import Conversations
from spotthebot.annotation.settings import AnnotationSettings
from spotthebot.annotation.store.events import EVENTS
from spotthebot.annotation.tables import IDEMPOTENCY, LINEAGE
from spotthebot.annotation.use_cases.metrics import read_metrics
from spotthebot.clients import AsyncConversations
from spotthebot.contracts.annotation_events import AnnotationEventType
from spotthebot.kit.events.router import events_router
from spotthebot.kit.events.subscriptions import subscriptions_of
from spotthebot.kit.jobs import DEFAULT_QUEUE, Jobs
from spotthebot.kit.process import Service
from spotthebot.kit.web.api import build_service
from spotthebot.kit.web.core.new_people import NewPeople


def create_app(settings: AnnotationSettings) -> FastAPI:
    """Return the application that serves protocols, trainings, campaigns, entries, assignments and subscriptions."""

    @asynccontextmanager
    async def live(app: FastAPI) -> AsyncIterator[None]:
        key = settings.service_key.get_secret_value()
        app.state.jobs = Jobs(settings.database_url.get_secret_value(), "annotation")
        app.state.metrics.sources.use(partial(read_metrics, app.state.database, (DEFAULT_QUEUE,)))
        app.state.new_people = NewPeople(settings)
        app.state.subscriptions = subscriptions_of(settings, EVENTS)
        async with AsyncConversations(settings.conversations_url, key) as conversations:
            app.state.conversations = Conversations(conversations)
            yield

    return build_service(
        "annotation",
        summary="The task API: protocols, campaigns, packages, assignments and annotations.",
        settings=settings,
        routers=[
            assignments.router,  # routes are looked through in order, and nearly every request is one of these
            campaigns.router,
            annotators.router,
            reviews.router,
            entries.router,
            payments.router,
            annotations.router,
            exports.router,
            protocols.router,
            trainings.router,
            training_attempts.router,
            events_router(AnnotationEventType, FRONTENDS),
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
