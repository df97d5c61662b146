"""The composition root of `web`: the only file that knows all the others."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from fastapi import FastAPI

from spotthebot.kit.service.process import Service
from spotthebot.kit.web.core.application import build_application
from spotthebot.kit.web.core.disk import DiskPart
from spotthebot.kit.web.core.rate_limits import RateLimiter
from spotthebot.kit.web.pages.headers import PageHeaders
from spotthebot.kit.web.pages.page_errors import PageErrors
from spotthebot.kit.web.sessions.cross_origin import CrossOriginGuard, host_of
from spotthebot.kit.web.sessions.sealed_cookie import SealedCookie
from spotthebot.web.clients import services_with
from spotthebot.web.error_pages import error_page, passed_on, said_by
from spotthebot.web.pages import (
    admin,
    annotate,
    bots,
    campaigns,
    chat,
    chat_links,
    conversations,
    home,
    leaderboard,
    metrics,
    one_bot,
    results,
    session,
)
from spotthebot.web.rendering import Renderer
from spotthebot.web.settings import WebSettings
from spotthebot.web.streams import OpenStreams

_FRONTEND_TIMEOUT_SECONDS = 10.0
"""For annotators, who are asked about nothing that takes long: sooner than their scripts give up."""


def create_app(settings: WebSettings) -> FastAPI:
    """Return the application that serves the pages."""
    renderer = Renderer()
    errors = PageErrors(error_page(renderer), passed_on, said_by(renderer))

    @asynccontextmanager
    async def live(app: FastAPI) -> AsyncIterator[None]:
        vault = settings.open_vault()
        secure = settings.public_url.startswith("https:")
        app.state.sessions = SealedCookie(
            "spotthebot_session", vault, lasts_seconds=settings.session_hours * 3600, secure=secure
        )
        app.state.annotator_sessions = SealedCookie(
            "spotthebot_annotator", vault, lasts_seconds=settings.annotator_days * 86_400, secure=secure
        )
        app.state.chat_sessions = SealedCookie(
            "spotthebot_chat_person", vault, lasts_seconds=settings.annotator_days * 86_400, secure=secure
        )
        app.state.vault = vault
        app.state.annotator_limits = RateLimiter(settings.annotator_requests_per_minute)
        app.state.streams = OpenStreams(settings)
        app.state.failed_links = RateLimiter(settings.failed_links_per_minute)
        async with AsyncExitStack() as stack:
            key = settings.annotation_key.get_secret_value()
            app.state.anyone = await stack.enter_async_context(services_with(settings, ""))
            frontend = services_with(
                settings, key, timeout_seconds=min(_FRONTEND_TIMEOUT_SECONDS, settings.service_seconds)
            )
            app.state.frontend = await stack.enter_async_context(frontend) if key else None
            yield

    app = build_application(
        "web",
        summary="Pages for annotators, teams and researchers; a client of the other services.",
        settings=settings,
        routers=[
            home.router,
            session.router,
            bots.router,
            one_bot.router,
            campaigns.router,
            results.router,
            chat.router,
            chat_links.router,
            leaderboard.router,
            *annotate.ROUTERS,
            conversations.router,
            *admin.ROUTERS,
            metrics.router,
        ],
        parts=[DiskPart(settings)],
        error_responses=errors,
        lifespan=live,
    )
    app.state.renderer = renderer
    renderer.static.mount(app)
    renderer.charts.mount(app)
    own_hosts = {host_of(settings.public_url)} if settings.public_url else set[str]()
    app.add_middleware(CrossOriginGuard, error_responses=errors, own_hosts=own_hosts)
    app.add_middleware(PageHeaders)
    return app


SERVICE = Service(name="web", settings=WebSettings, create_app=create_app, lineage=None)
