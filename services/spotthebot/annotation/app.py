"""The composition root of `annotation`: the only module that imports all other modules."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from fastapi import FastAPI

from spotthebot.annotation.annotations import api as annotations_api
from spotthebot.annotation.assignments import api as assignments_api
from spotthebot.annotation.attempts import api as attempts_api
from spotthebot.annotation.campaign_setup import api as campaign_setup_api
from spotthebot.annotation.clients import Conversations
from spotthebot.annotation.deps import FRONTENDS
from spotthebot.annotation.entries import api as entries_api
from spotthebot.annotation.events.store import EVENTS
from spotthebot.annotation.exports import api as exports_api
from spotthebot.annotation.judges import api as judges_api
from spotthebot.annotation.metadata import IDEMPOTENCY
from spotthebot.annotation.metrics.use_cases import read_metrics
from spotthebot.annotation.payments import api as payments_api
from spotthebot.annotation.protocols import api as protocols_api
from spotthebot.annotation.resources import Resources
from spotthebot.annotation.reviews.api import annotators as annotators_api
from spotthebot.annotation.settings import AnnotationSettings
from spotthebot.annotation.studies import api as studies_api
from spotthebot.annotation.tables import LINEAGE
from spotthebot.annotation.trainings import api as trainings_api
from spotthebot.annotation.verdicts import api as verdicts_api
from spotthebot.clients import AsyncConversations, AsyncFed
from spotthebot.contracts.annotation.events import AnnotationEventType
from spotthebot.kit.events.router import events_router
from spotthebot.kit.events.subscriptions import subscriptions_of
from spotthebot.kit.jobs.queue import Jobs
from spotthebot.kit.jobs.tasks import DEFAULT_QUEUE
from spotthebot.kit.service.process import Service
from spotthebot.kit.web.api import build_service
from spotthebot.kit.web.core.new_people import NewPeople
from spotthebot.kit.web.core.resources import core_of
from spotthebot.kit.web.database.resources import database_of


def create_app(settings: AnnotationSettings) -> FastAPI:
    """Return the application that serves protocols, trainings, campaigns, entries, assignments and subscriptions."""

    @asynccontextmanager
    async def live(app: FastAPI) -> AsyncIterator[None]:
        key = settings.service_key.get_secret_value()
        core_of(app).metrics.sources.use(partial(read_metrics, database_of(app).pool, (DEFAULT_QUEUE,)))
        async with (
            AsyncConversations(settings.conversations_url, key) as conversations,
            AsyncFed(settings.fed_url, key) as fed,
        ):
            app.state.resources = Resources(
                jobs=Jobs(settings.database_url.get_secret_value(), "annotation"),
                new_people=NewPeople(settings),
                subscriptions=subscriptions_of(settings, EVENTS),
                conversations=Conversations(conversations),
                fed=fed,
            )
            yield

    return build_service(
        "annotation",
        summary="The task API: protocols, campaigns, packages, assignments and annotations.",
        settings=settings,
        routers=[
            assignments_api.router,  # routes are tried in order, and nearly every request is for one of these
            campaign_setup_api.router,
            verdicts_api.router,
            annotators_api.router,
            entries_api.router,
            payments_api.router,
            annotations_api.router,
            exports_api.router,
            protocols_api.router,
            judges_api.router,
            trainings_api.router,
            attempts_api.router,
            studies_api.router,
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
