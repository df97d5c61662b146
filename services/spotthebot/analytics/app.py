"""The composition root of `analytics`: the only file that knows all the others."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from spotthebot.analytics.api import results
from spotthebot.analytics.clients import Studies
from spotthebot.analytics.settings import AnalyticsSettings
from spotthebot.kit.client import ServiceClient
from spotthebot.kit.process import Service
from spotthebot.kit.web.application import build_application


def create_app(settings: AnalyticsSettings) -> FastAPI:
    """Return the application that serves the results of `/v1/campaigns`."""

    @asynccontextmanager
    async def live(app: FastAPI) -> AsyncIterator[None]:
        key = settings.service_key.get_secret_value()
        async with (
            ServiceClient("annotation", settings.annotation_url, key) as annotation,
            ServiceClient("conversations", settings.conversations_url, key) as conversations,
        ):
            app.state.studies = Studies(annotation, conversations)
            yield

    return build_application(
        "analytics",
        summary="Rankings, survival and fooling rates of campaigns.",
        settings=settings,
        routers=[results.router],
        lifespan=live,
    )


SERVICE = Service(name="analytics", settings=AnalyticsSettings, create_app=create_app)
