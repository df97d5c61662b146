"""The composition root of `web`: the only file that knows all the others."""

import asyncio
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
from spotthebot.web.annotators import pages as annotators_pages
from spotthebot.web.audit import pages as audit_pages
from spotthebot.web.bots.pages import bots as bots_pages
from spotthebot.web.bots.pages import one_bot as one_bot_pages
from spotthebot.web.campaigns.pages import campaigns as campaigns_pages
from spotthebot.web.campaigns.pages import form as form_pages
from spotthebot.web.chats.pages import chat as chat_pages
from spotthebot.web.chats.pages import consent as chat_consent_pages
from spotthebot.web.chats.pages import links as chats_links_pages
from spotthebot.web.clients import services_with
from spotthebot.web.collections import pages as collections_pages
from spotthebot.web.conversations import pages as conversations_pages
from spotthebot.web.documentation import mount_site
from spotthebot.web.entries import pages as entries_pages
from spotthebot.web.error_pages import error_page, passed_on, said_by
from spotthebot.web.exports import pages as exports_pages
from spotthebot.web.games import pages as games_pages
from spotthebot.web.home import pages as home_pages
from spotthebot.web.leaderboard import pages as leaderboard_pages
from spotthebot.web.metrics import pages as metrics_pages
from spotthebot.web.packages import pages as packages_pages
from spotthebot.web.partner_sets import pages as partner_sets_pages
from spotthebot.web.payments import pages as payments_pages
from spotthebot.web.provider import Provider
from spotthebot.web.rendering import Renderer
from spotthebot.web.resources import Resources
from spotthebot.web.results.pages import costs as costs_pages
from spotthebot.web.results.pages import dashboard as dashboard_pages
from spotthebot.web.results.pages import mixed_models as mixed_models_pages
from spotthebot.web.results.pages import pooled as pooled_pages
from spotthebot.web.results.pages import results as results_pages
from spotthebot.web.sessions import VisitorResources
from spotthebot.web.settings import WebSettings
from spotthebot.web.sign_in import pages as sign_in_pages
from spotthebot.web.streams import OpenStreams
from spotthebot.web.studies import pages as studies_pages
from spotthebot.web.system import pages as system_pages
from spotthebot.web.trainings import pages as trainings_pages

_FRONTEND_TIMEOUT_SECONDS = 10.0
"""The time limit for requests on behalf of annotators. It is shorter than the time limit of their scripts."""


_SIGN_IN_SECONDS = 600


def create_app(settings: WebSettings) -> FastAPI:
    """Return the application that serves the pages."""
    renderer = Renderer()
    errors = PageErrors(error_page(renderer), passed_on, said_by(renderer))

    @asynccontextmanager
    async def live(app: FastAPI) -> AsyncIterator[None]:
        vault = settings.open_vault()
        secure = settings.public_url.startswith("https:")

        def cookie(name: str, seconds: int) -> SealedCookie:
            return SealedCookie(name, vault, lasts_seconds=seconds, secure=secure)

        annotator_seconds = settings.annotator_days * 86_400
        visitors = VisitorResources(
            sessions=cookie("spotthebot_session", settings.session_hours * 3600),
            annotator_sessions=cookie("spotthebot_annotator", annotator_seconds),
            chat_sessions=cookie("spotthebot_chat_person", annotator_seconds),
            sign_ins=cookie("spotthebot_sign_in", _SIGN_IN_SECONDS),
            request_limits=RateLimiter(settings.annotator_requests_per_minute),
            failed_links=RateLimiter(settings.failed_links_per_minute),
        )
        async with AsyncExitStack() as stack:
            key = settings.annotation_key.get_secret_value()
            frontend = services_with(
                settings, key, timeout_seconds=min(_FRONTEND_TIMEOUT_SECONDS, settings.service_seconds)
            )
            app.state.resources = Resources(
                settings=settings,
                vault=vault,
                visitors=visitors,
                renderer=renderer,
                streams=OpenStreams(settings),
                provider=Provider.of(settings),
                anyone=await stack.enter_async_context(services_with(settings, "")),
                frontend=await stack.enter_async_context(frontend) if key else None,
                table_reading=asyncio.Lock(),
            )
            yield

    app = build_application(
        "web",
        summary="Pages for annotators, teams and researchers; a client of the other services.",
        settings=settings,
        routers=[
            home_pages.router,
            sign_in_pages.router,
            bots_pages.router,
            one_bot_pages.router,
            dashboard_pages.router,
            pooled_pages.router,
            costs_pages.router,
            results_pages.router,
            mixed_models_pages.router,
            chat_pages.router,
            chats_links_pages.router,
            chat_consent_pages.router,
            leaderboard_pages.router,
            entries_pages.router,
            packages_pages.router,
            games_pages.router,
            conversations_pages.router,
            studies_pages.router,
            system_pages.router,
            annotators_pages.router,
            audit_pages.router,
            payments_pages.router,
            exports_pages.router,
            form_pages.router,
            campaigns_pages.router,
            trainings_pages.router,
            collections_pages.router,
            partner_sets_pages.router,
            metrics_pages.router,
        ],
        parts=[DiskPart(settings)],
        error_responses=errors,
        lifespan=live,
    )
    renderer.static.mount(app)
    renderer.charts.mount(app)
    mount_site(app)
    own_hosts = {host_of(settings.public_url)} if settings.public_url else set[str]()
    app.add_middleware(CrossOriginGuard, error_responses=errors, own_hosts=own_hosts)
    app.add_middleware(PageHeaders)
    return app


SERVICE = Service(name="web", settings=WebSettings, create_app=create_app, lineage=None)
