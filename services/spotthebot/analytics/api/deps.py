"""Dependencies of the endpoints of `analytics`: the caller, the parameters, the results and the data."""

from typing import Annotated
from uuid import UUID

from fastapi import Depends, Path, Query, Request

from spotthebot.analytics.api.tables import TableForm
from spotthebot.analytics.clients.campaigns import Campaigns
from spotthebot.analytics.clients.studies import Studies
from spotthebot.analytics.clients.teams import Teams
from spotthebot.analytics.domain.errors import KeyWithoutTeam
from spotthebot.analytics.use_cases.annotator_ranks import AnnotatorRanks
from spotthebot.analytics.use_cases.campaigns import resolve_campaign
from spotthebot.analytics.use_cases.figures import Figures
from spotthebot.analytics.use_cases.recent_results import RecentResults
from spotthebot.analytics.use_cases.result_cache import ResultCache
from spotthebot.analytics.use_cases.sections import Sections
from spotthebot.analytics.use_cases.standings import Standings
from spotthebot.contracts.access import Role
from spotthebot.contracts.analytics.figures import FigureParametersIn
from spotthebot.contracts.analytics.provenance import ParametersIn, SectionParametersIn
from spotthebot.contracts.analytics.sections import SectionsParametersIn
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.jobs import Jobs
from spotthebot.kit.web.bearer.authentication import allow
from spotthebot.kit.web.database.claims import Claim
from spotthebot.kit.web.database.idempotency import asking_first

_MAX_NAME = 200
_analysts = allow(Role.ADMIN, Role.ANALYST)

Analyst = Annotated[Principal, Depends(allow(Role.ADMIN, Role.ANALYST, Role.SERVICE))]
Start = Annotated[Claim, Depends(asking_first(_analysts), scope="function")]
"""The claim of an `Idempotency-Key` for an analysis: `annotation` is asked first, then the transaction begins."""
Canceller = Annotated[Principal, Depends(_analysts)]


RankReader = Annotated[Principal, Depends(allow(Role.ADMIN, Role.ANALYST, Role.ANNOTATION, Role.SERVICE))]
"""Who may see what annotators may."""


async def _results(request: Request) -> ResultCache:
    results: ResultCache = request.app.state.results
    return results


RequestParameters = Annotated[ParametersIn, Query()]
SectionParameters = Annotated[SectionParametersIn, Query()]
SectionsParameters = Annotated[SectionsParametersIn, Query()]
FigureParameters = Annotated[FigureParametersIn, Query()]


async def _requested_results(
    request: Request, form: TableForm, parameters: SectionParameters
) -> ResultCache | RecentResults:
    results: ResultCache = request.app.state.results
    recent: RecentResults = request.app.state.recent_results
    # A table has no place for the moment that it is of.
    return recent if parameters.recent and form.file is None else results


async def _requested_figures(request: Request, parameters: FigureParameters) -> Figures | RecentResults:
    figures: Figures = request.app.state.figures
    recent: RecentResults = request.app.state.recent_results
    return recent if parameters.recent and parameters.revision is None else figures


RequestedResults = Annotated[ResultCache | RecentResults, Depends(_requested_results)]
"""The results of now, or recent ones where the query asks for them."""
RequestedFigures = Annotated[Figures | RecentResults, Depends(_requested_figures)]


async def _sections(request: Request) -> Sections:
    sections: Sections = request.app.state.sections
    return sections


SectionsOfCampaign = Annotated[Sections, Depends(_sections)]


async def _studies(request: Request) -> Studies:
    studies: Studies = request.app.state.studies
    return studies


async def _jobs(request: Request) -> Jobs:
    jobs: Jobs = request.app.state.jobs
    return jobs


async def _teams(request: Request) -> Teams:
    teams: Teams = request.app.state.teams
    return teams


async def _standings(request: Request) -> Standings:
    standings: Standings = request.app.state.standings
    return standings


async def _ranks(request: Request) -> AnnotatorRanks:
    ranks: AnnotatorRanks = request.app.state.annotator_ranks
    return ranks


RanksOfGames = Annotated[AnnotatorRanks, Depends(_ranks)]


async def _campaigns(request: Request) -> Campaigns:
    campaigns: Campaigns = request.app.state.campaigns
    return campaigns


CampaignsClient = Annotated[Campaigns, Depends(_campaigns)]


async def _requested_campaign(
    campaigns: CampaignsClient,
    campaign_id: Annotated[str, Path(max_length=_MAX_NAME, description="The campaign: its id, or its name.")],
) -> UUID:
    return await resolve_campaign(campaigns, campaign_id)


async def _filtered_campaign(
    campaigns: CampaignsClient,
    campaign_id: Annotated[
        str | None, Query(max_length=_MAX_NAME, description="A campaign: its id, or its name.")
    ] = None,
) -> UUID | None:
    return None if campaign_id is None else await resolve_campaign(campaigns, campaign_id)


RequestedCampaign = Annotated[UUID, Depends(_requested_campaign)]
"""The campaign that the path names."""
FilteredCampaign = Annotated[UUID | None, Depends(_filtered_campaign)]
"""The campaign that the query names, if it names one."""


async def _team(caller: Annotated[Principal, Depends(allow(Role.TEAM))]) -> str:
    if not caller.team:
        raise KeyWithoutTeam
    return caller.team


Team = Annotated[str, Depends(_team)]
"""The team that calls: what is answered is about its own bots."""
TeamsClient = Annotated[Teams, Depends(_teams)]
StandingsOfTeams = Annotated[Standings, Depends(_standings)]
Results = Annotated[ResultCache, Depends(_results)]
StudiesClient = Annotated[Studies, Depends(_studies)]
JobQueue = Annotated[Jobs, Depends(_jobs)]
