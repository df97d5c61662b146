"""The composition root of `analytics`: the only file that knows all the others."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from fastapi import FastAPI

from spotthebot.analytics.api import analyses, campaigns, designs, figures, leaderboards, results, standings
from spotthebot.analytics.clients.campaigns import Campaigns
from spotthebot.analytics.clients.studies import Studies
from spotthebot.analytics.clients.teams import Teams
from spotthebot.analytics.settings import AnalyticsSettings
from spotthebot.analytics.tables import IDEMPOTENCY, LINEAGE
from spotthebot.analytics.use_cases.annotator_ranks import AnnotatorRanks
from spotthebot.analytics.use_cases.compute_threads import ComputeThreads
from spotthebot.analytics.use_cases.figures import Figures
from spotthebot.analytics.use_cases.leaderboards import Leaderboards
from spotthebot.analytics.use_cases.metrics import read_metrics
from spotthebot.analytics.use_cases.recent_results import RecentResults
from spotthebot.analytics.use_cases.result_cache import ResultCache
from spotthebot.analytics.use_cases.sections import Sections
from spotthebot.analytics.use_cases.standings import Standings
from spotthebot.clients import AsyncAnnotation, AsyncBots, AsyncConversations
from spotthebot.kit.jobs import DEFAULT_QUEUE, Jobs
from spotthebot.kit.service.process import Service
from spotthebot.kit.web.api import build_service
from spotthebot.kit.web.core.callers_gone import EndWithCaller


def create_app(settings: AnalyticsSettings) -> FastAPI:
    """Return the application that serves results and figures of `/v1/campaigns`, `/v1/analyses` and `/v1/teams`."""

    @asynccontextmanager
    async def live(app: FastAPI) -> AsyncIterator[None]:
        key = settings.service_key.get_secret_value()
        app.state.jobs = Jobs(settings.database_url.get_secret_value(), "analytics")
        app.state.metrics.sources.use(partial(read_metrics, app.state.database, (DEFAULT_QUEUE,)))
        async with (
            AsyncBots(settings.bots_url, key) as bots,
            AsyncAnnotation(settings.annotation_url, key) as annotation,
            AsyncConversations(settings.conversations_url, key) as conversations,
        ):
            app.state.campaigns = Campaigns(annotation)
            app.state.studies = Studies(annotation, conversations)
            app.state.teams = Teams(bots, annotation, conversations)
            threads = ComputeThreads()
            app.state.results = ResultCache(app.state.database, app.state.studies, threads)
            app.state.figures = Figures(app.state.database, app.state.studies, app.state.results, threads)
            app.state.recent_results = RecentResults(
                app.state.studies,
                app.state.results,
                app.state.figures,
                threads=threads,
                limit_seconds=settings.recent_seconds,
            )
            app.state.sections = Sections(app.state.studies, app.state.results, app.state.recent_results)
            app.state.standings = Standings(app.state.database, app.state.teams, app.state.studies, app.state.results)
            app.state.annotator_ranks = AnnotatorRanks(app.state.results, kept_seconds=settings.leaderboard_seconds)
            app.state.leaderboards = Leaderboards(
                app.state.campaigns, app.state.standings, kept_seconds=settings.leaderboard_seconds
            )
            try:
                yield
            finally:
                threads.close()

    app = build_service(
        "analytics",
        summary="Rankings, survival, agreement and all other results of campaigns, with their figures.",
        settings=settings,
        routers=[
            campaigns.router,
            results.router,
            figures.router,
            analyses.router,
            designs.router,
            standings.router,
            leaderboards.router,
        ],
        lineages=[LINEAGE],
        idempotency_table=IDEMPOTENCY,
        lifespan=live,
    )
    app.add_middleware(EndWithCaller)
    return app


SERVICE = Service(
    name="analytics",
    settings=AnalyticsSettings,
    create_app=create_app,
    lineage=LINEAGE,
)
