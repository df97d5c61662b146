"""The composition root of `analytics`: the only module that knows all parts of the service."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from fastapi import FastAPI

from spotthebot.analytics.analyses import api as analyses
from spotthebot.analytics.campaigns import api as campaigns
from spotthebot.analytics.clients.campaign_data import CampaignData
from spotthebot.analytics.clients.campaign_measures import CampaignMeasureReader
from spotthebot.analytics.clients.campaigns import Campaigns
from spotthebot.analytics.clients.study_reader import StudyReader
from spotthebot.analytics.clients.teams import Teams
from spotthebot.analytics.designs import api as designs
from spotthebot.analytics.kept_results.use_cases.compute_threads import ComputeThreads
from spotthebot.analytics.kept_results.use_cases.kept_results import KeptResults
from spotthebot.analytics.leaderboards import api as leaderboards
from spotthebot.analytics.leaderboards.api import LeaderboardResources
from spotthebot.analytics.leaderboards.use_cases import Leaderboards
from spotthebot.analytics.metadata import IDEMPOTENCY
from spotthebot.analytics.metrics.use_cases import read_metrics
from spotthebot.analytics.pooled import api as pooled
from spotthebot.analytics.pooled.api import PooledResources
from spotthebot.analytics.pooled.use_cases import PooledResults
from spotthebot.analytics.resources import Resources as SharedResources
from spotthebot.analytics.results.api import chat_times, decisions, figures, measures, results
from spotthebot.analytics.results.api.deps import ResultResources
from spotthebot.analytics.results.use_cases.annotator_ranks import AnnotatorRanks
from spotthebot.analytics.results.use_cases.figures import Figures
from spotthebot.analytics.results.use_cases.measure_results import MeasureResults
from spotthebot.analytics.results.use_cases.recent_results import RecentResults
from spotthebot.analytics.results.use_cases.result_cache import ResultCache
from spotthebot.analytics.results.use_cases.sections import Sections
from spotthebot.analytics.settings import AnalyticsSettings
from spotthebot.analytics.standings import api as standings
from spotthebot.analytics.standings.api import StandingResources
from spotthebot.analytics.standings.use_cases import Standings
from spotthebot.analytics.studies import api as studies_api
from spotthebot.analytics.studies.api import StudyResources
from spotthebot.analytics.studies.use_cases import StudyResults
from spotthebot.analytics.tables import LINEAGE
from spotthebot.analytics.verdicts import api as verdicts_api
from spotthebot.analytics.verdicts.api import VerdictResources
from spotthebot.analytics.verdicts.use_cases import Verdicts
from spotthebot.clients import AsyncAnnotation, AsyncBots, AsyncConversations, AsyncFed
from spotthebot.kit.jobs.queue import Jobs
from spotthebot.kit.jobs.tasks import DEFAULT_QUEUE
from spotthebot.kit.service.process import Service
from spotthebot.kit.web.api import build_service
from spotthebot.kit.web.core.callers_gone import EndWithCaller
from spotthebot.kit.web.core.resources import core_of
from spotthebot.kit.web.database.resources import database_of


@dataclass(frozen=True)
class Resources(
    SharedResources,
    ResultResources,
    PooledResources,
    StudyResources,
    StandingResources,
    LeaderboardResources,
    VerdictResources,
):
    """The resources of all nouns: the one object on the application's state."""


def create_app(settings: AnalyticsSettings) -> FastAPI:
    """Return the application: `/v1/campaigns`, `/v1/pooled`, `/v1/studies`, `/v1/analyses` and `/v1/teams`."""

    @asynccontextmanager
    async def live(app: FastAPI) -> AsyncIterator[None]:
        key = settings.service_key.get_secret_value()
        database = database_of(app).pool
        core_of(app).metrics.sources.use(partial(read_metrics, database, (DEFAULT_QUEUE,)))
        async with (
            AsyncBots(settings.bots_url, key) as bots,
            AsyncAnnotation(settings.annotation_url, key) as annotation,
            AsyncConversations(settings.conversations_url, key) as conversations,
            AsyncFed(settings.fed_url, key) as fed,
        ):
            campaigns_client = Campaigns(annotation)
            campaign_data = CampaignData(annotation, conversations)
            measured = CampaignMeasureReader(conversations, fed, campaign_data)
            studies = StudyReader(annotation, conversations, fed, campaign_data)
            teams = Teams(bots, annotation, conversations)
            threads = ComputeThreads()
            kept = KeptResults(database, threads)
            cache = ResultCache(kept, campaign_data, conversations, threads)
            drawn = Figures(database, campaign_data, cache, threads)
            recent = RecentResults(campaign_data, cache, drawn, threads=threads, limit_seconds=settings.recent_seconds)
            of_teams = Standings(database, teams, campaign_data, cache)
            app.state.resources = Resources(
                jobs=Jobs(settings.database_url.get_secret_value(), "analytics"),
                campaigns=campaigns_client,
                campaign_data=campaign_data,
                teams=teams,
                results=cache,
                measure_results=MeasureResults(cache, kept, measured, threads),
                pooled_results=PooledResults(campaign_data, cache),
                study_results=StudyResults(kept, studies, threads),
                figures=drawn,
                recent_results=recent,
                sections=Sections(campaign_data, cache, recent),
                standings=of_teams,
                verdicts=Verdicts(database, campaign_data, threads),
                annotator_ranks=AnnotatorRanks(cache, kept_seconds=settings.leaderboard_seconds),
                leaderboards=Leaderboards(campaigns_client, of_teams, kept_seconds=settings.leaderboard_seconds),
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
            measures.router,
            decisions.router,
            chat_times.router,
            verdicts_api.router,
            studies_api.router,
            pooled.router,
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
