"""The composition root of `fed`: the only module that knows all parts of the service."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from fastapi import FastAPI

from spotthebot.clients import AsyncAnnotation, AsyncConversations
from spotthebot.contracts.fed.events import FedEventType
from spotthebot.fed.api import dimension_sets, score_jobs, score_sets, scores
from spotthebot.fed.api.deps import Resources
from spotthebot.fed.clients import Campaigns, Collections
from spotthebot.fed.model import open_scorers
from spotthebot.fed.settings import FedSettings
from spotthebot.fed.store.events import EVENTS
from spotthebot.fed.tables import IDEMPOTENCY, LINEAGE
from spotthebot.fed.use_cases.metrics import read_metrics
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
            scores.router,
            score_jobs.router,
            score_sets.router,
            dimension_sets.router,
            events_router(FedEventType, None),
        ],
        lineages=[LINEAGE],
        idempotency_table=IDEMPOTENCY,
        lifespan=live,
    )


SERVICE = Service(name="fed", settings=FedSettings, create_app=create_app, lineage=LINEAGE)
