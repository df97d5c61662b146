"""`/v1/teams/me/...`: what a team sees of its own bots."""

from fastapi import APIRouter
from starlette.responses import Response

from spotthebot.analytics.api.deps import StandingsOfTeams, Team, TeamsClient
from spotthebot.analytics.api.tables import TABLES, TableForm, answer_page
from spotthebot.analytics.domain.tables import standings_table, team_bots_table
from spotthebot.contracts.analytics.standings import StandingOut, TeamBotOut
from spotthebot.kit.web.core.pagination import Page, PageRequest, Paging, page_of
from spotthebot.kit.web.core.routes import CheckedRoute

router = APIRouter(prefix="/v1/teams/me", tags=["teams"], route_class=CheckedRoute)
_MAX_CAMPAIGNS = 10
"""On a page: results that were never asked for take seconds each."""
_MAX_BOTS = 20
"""On a page: the time of each reply of each is read."""


@router.get("/standings", operation_id="list_standings", response_model=Page[StandingOut], responses=TABLES)
async def list_standings(
    team: Team, form: TableForm, teams: TeamsClient, standings: StandingsOfTeams, paging: Paging
) -> Response:
    """List the standings of the team's bots, a campaign each, the oldest first: where the results were released.

    Figures and intervals are those of the operator's results with standard parameters. Others' bots have pseudonyms,
    unless their owners made them public. A page holds ten campaigns at most, and fewer where one was withdrawn.
    """
    bots = await teams.list_bots(team)
    released = [each for each in await teams.list_released(bots) if paging.after is None or each.id > paging.after]
    paging = _at_most(_MAX_CAMPAIGNS, paging)
    campaigns = page_of(released, paging, key=lambda campaign: campaign.id, to_out=lambda campaign: campaign)
    found = [await standings.find(campaign, bots) for campaign in campaigns.items]
    page = Page[StandingOut](items=[each for each in found if each is not None], next_cursor=campaigns.next_cursor)
    return await answer_page(form, "standings", page, standings_table)


@router.get("/bots", operation_id="list_team_bots", response_model=Page[TeamBotOut], responses=TABLES)
async def list_team_bots(team: Team, form: TableForm, teams: TeamsClient, paging: Paging) -> Response:
    """List the team's bots, oldest first, each with its failures and latencies in all of its conversations.

    No result of annotations is among them, so nothing has to be released. A page holds twenty bots at most.
    """
    bots = [each for each in await teams.list_bots(team) if paging.after is None or each.id > paging.after]
    listed = page_of(bots, _at_most(_MAX_BOTS, paging), key=lambda bot: bot.id, to_out=lambda bot: bot)
    page = Page[TeamBotOut](
        items=[
            TeamBotOut(
                id=bot.id,
                name=bot.name,
                status=bot.status,
                status_reason=bot.status_reason,
                version=bot.version,
                public=bot.public,
                performance=await teams.get_performance(bot.id),
            )
            for bot in listed.items
        ],
        next_cursor=listed.next_cursor,
    )
    return await answer_page(form, "bots", page, team_bots_table)


def _at_most(limit: int, paging: PageRequest) -> PageRequest:
    return paging.model_copy(update={"limit": min(paging.limit, limit)})
