"""`/v1/teams/me/...`: what a team sees of its own bots."""

from fastapi import APIRouter

from spotthebot.analytics.api.deps import StandingsOfTeams, Team, TeamsClient
from spotthebot.contracts.analytics import StandingOut
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.core.routes import CheckedRoute

router = APIRouter(prefix="/v1/teams/me", tags=["teams"], route_class=CheckedRoute)
_MAX_CAMPAIGNS = 10
"""On a page: results that were never asked for take seconds each."""


@router.get("/standings", operation_id="list_standings")
async def list_standings(
    team: Team, teams: TeamsClient, standings: StandingsOfTeams, paging: Paging
) -> Page[StandingOut]:
    """List the standings of the team's bots, a campaign each, the oldest first: where the results were released.

    Figures and intervals are those of the operator's results with standard parameters. Others' bots have pseudonyms,
    unless their owners made them public. A page holds ten campaigns at most, and fewer where one was withdrawn.
    """
    bots = await teams.list_bots(team)
    released = [each for each in await teams.list_released(bots) if paging.after is None or each.id > paging.after]
    paging = paging.model_copy(update={"limit": min(paging.limit, _MAX_CAMPAIGNS)})
    campaigns = page_of(released, paging, key=lambda campaign: campaign.id, to_out=lambda campaign: campaign)
    found = [await standings.find(campaign, bots) for campaign in campaigns.items]
    return Page(items=[each for each in found if each is not None], next_cursor=campaigns.next_cursor)
