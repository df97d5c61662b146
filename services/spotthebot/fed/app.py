"""The composition root of `fed`: the only module that knows all parts of the service."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from fastapi import FastAPI

from spotthebot.clients import AsyncAnnotation, AsyncConversations
from spotthebot.contracts.fed.events import FedEventType
from spotthebot.fed.clients import Campaigns, Collections
from spotthebot.fed.correlations import api as correlations_api
from spotthebot.fed.deps import Resources
from spotthebot.fed.dialogue_scores import api as dialogue_scores_api
from spotthebot.fed.dimension_sets import api as dimension_sets_api
from spotthebot.fed.events.store import EVENTS
from spotthebot.fed.metadata import IDEMPOTENCY
from spotthebot.fed.metrics.use_cases import read_metrics
from spotthebot.fed.model import open_scorers
from spotthebot.fed.score_jobs import api as score_jobs_api
from spotthebot.fed.score_sets import api as score_sets_api
from spotthebot.fed.scores import api as scores_api
from spotthebot.fed.settings import FedSettings
from spotthebot.fed.tables import LINEAGE
from spotthebot.kit.events.router import events_router
from spotthebot.kit.events.subscriptions import subscriptions_of
from spotthebot.kit.jobs.queue import Jobs
from spotthebot.kit.jobs.tasks import DEFAULT_QUEUE
from spotthebot.kit.service.process import Service
from spotthebot.kit.web.api import build_service
from spotthebot.kit.web.core.resources import core_of
from spotthebot.kit.web.database.resources import database_of


def create_app(settings: FedSettings) -> FastAPI:
    """Return the application that serves scores, score jobs, score sets, dimension sets and subscriptions."""

    @asynccontextmanager
    async def live(app: FastAPI) -> AsyncIterator[None]:
        key = settings.service_key.get_secret_value()
        core_of(app).metrics.sources.use(partial(read_metrics, database_of(app).pool, (DEFAULT_QUEUE,)))
        async with AsyncExitStack() as stack:
            conversations = await stack.enter_async_context(AsyncConversations(settings.conversations_url, key))
            annotation = await stack.enter_async_context(AsyncAnnotation(settings.annotation_url, key))
            app.state.resources = Resources(
                settings=settings,
                jobs=Jobs(settings.database_url.get_secret_value(), "fed"),
                subscriptions=subscriptions_of(settings, EVENTS),
                collections=Collections(conversations),
                campaigns=Campaigns(annotation),
                scorers=await stack.enter_async_context(open_scorers(settings)),
            )
            yield

    return build_service(
        "fed",
        summary="FED: a language model rates dialogues, beside what their length alone says.",
        settings=settings,
        routers=[
            scores_api.router,
            score_jobs_api.router,
            score_sets_api.router,
            dialogue_scores_api.router,
            correlations_api.router,
            correlations_api.systems_router,
            dimension_sets_api.router,
            events_router(FedEventType, None),
        ],
        lineages=[LINEAGE],
        idempotency_table=IDEMPOTENCY,
        lifespan=live,
    )


SERVICE = Service(name="fed", settings=FedSettings, create_app=create_app, lineage=LINEAGE)
