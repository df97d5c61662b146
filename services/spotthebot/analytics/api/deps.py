"""Dependencies of the endpoints of `analytics`: the caller, the parameters, the resources of the service."""

from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Path, Query

from spotthebot.analytics.api.tables import TableForm
from spotthebot.analytics.clients.campaign_data import CampaignData
from spotthebot.analytics.clients.campaigns import Campaigns
from spotthebot.analytics.clients.teams import Teams
from spotthebot.analytics.domain.errors import KeyWithoutTeam
from spotthebot.analytics.use_cases.annotator_ranks import AnnotatorRanks
from spotthebot.analytics.use_cases.campaigns import resolve_campaign
from spotthebot.analytics.use_cases.figures import Figures
from spotthebot.analytics.use_cases.leaderboards import Leaderboards
from spotthebot.analytics.use_cases.recent_results import RecentResults
from spotthebot.analytics.use_cases.result_cache import ResultCache
from spotthebot.analytics.use_cases.sections import Sections
from spotthebot.analytics.use_cases.standings import Standings
from spotthebot.analytics.use_cases.study_results import StudyResults
from spotthebot.contracts.access import Role
from spotthebot.contracts.analytics.figures import FigureParametersIn
from spotthebot.contracts.analytics.provenance import ParametersIn, SectionParametersIn
from spotthebot.contracts.analytics.sections import SectionsParametersIn
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.jobs.queue import Jobs
from spotthebot.kit.web.bearer.authentication import allow
from spotthebot.kit.web.core.resources import resources_of
from spotthebot.kit.web.database.claims import Claim
from spotthebot.kit.web.database.idempotency import asking_first

_MAX_NAME = 200
_analysts = allow(Role.ADMIN, Role.ANALYST)

Analyst = Annotated[Principal, Depends(allow(Role.ADMIN, Role.ANALYST, Role.SERVICE))]
Start = Annotated[Claim, Depends(asking_first(_analysts), scope="function")]
"""The claim of an `Idempotency-Key` for an analysis: `annotation` is asked first, then the transaction begins."""
Canceller = Annotated[Principal, Depends(_analysts)]


RankReader = Annotated[Principal, Depends(allow(Role.ADMIN, Role.ANALYST, Role.ANNOTATION, Role.SERVICE))]
"""A caller who may see results that annotators may see."""


@dataclass(frozen=True)
class Resources:
    """The job queue, the clients of other services, and the results that this process computes and caches."""

    jobs: Jobs
    campaigns: Campaigns
    campaign_data: CampaignData
    teams: Teams
    results: ResultCache
    study_results: StudyResults
    figures: Figures
    recent_results: RecentResults
    sections: Sections
    standings: Standings
    annotator_ranks: AnnotatorRanks
    leaderboards: Leaderboards


ServiceResources = Annotated[Resources, Depends(resources_of)]
"""The resources that the lifespan of the application opened."""
RequestParameters = Annotated[ParametersIn, Query()]
SectionParameters = Annotated[SectionParametersIn, Query()]
SectionsParameters = Annotated[SectionsParametersIn, Query()]
FigureParameters = Annotated[FigureParametersIn, Query()]


async def _requested_results(
    resources: ServiceResources, form: TableForm, parameters: SectionParameters
) -> ResultCache | RecentResults:
    # A table has no column for its time.
    return resources.recent_results if parameters.recent and form.file is None else resources.results


async def _requested_figures(resources: ServiceResources, parameters: FigureParameters) -> Figures | RecentResults:
    return resources.recent_results if parameters.recent and parameters.revision is None else resources.figures


RequestedResults = Annotated[ResultCache | RecentResults, Depends(_requested_results)]
"""The current results, or recent ones if the query asks for them."""
RequestedFigures = Annotated[Figures | RecentResults, Depends(_requested_figures)]


async def _requested_campaign(
    resources: ServiceResources,
    campaign_id: Annotated[str, Path(max_length=_MAX_NAME, description="The campaign: its id, or its name.")],
) -> UUID:
    return await resolve_campaign(resources.campaigns, campaign_id)


async def _filtered_campaign(
    resources: ServiceResources,
    campaign_id: Annotated[
        str | None, Query(max_length=_MAX_NAME, description="A campaign: its id, or its name.")
    ] = None,
) -> UUID | None:
    return None if campaign_id is None else await resolve_campaign(resources.campaigns, campaign_id)


RequestedCampaign = Annotated[UUID, Depends(_requested_campaign)]
"""The campaign in the path, which holds its id or its name."""
FilteredCampaign = Annotated[UUID | None, Depends(_filtered_campaign)]
"""The campaign in the query, or None."""


async def _team(caller: Annotated[Principal, Depends(allow(Role.TEAM))]) -> str:
    if not caller.team:
        raise KeyWithoutTeam
    return caller.team


Team = Annotated[str, Depends(_team)]
"""The calling team; the answer is about its own bots."""
