"""`/v1/teams/me/...`: the results of a team's own bots."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import Response

from spotthebot.analytics.clients.teams import Teams
from spotthebot.analytics.standings.domain.tables import standings_table, team_bots_table
from spotthebot.analytics.standings.errors import KeyWithoutTeam
from spotthebot.analytics.standings.use_cases import Standings
from spotthebot.analytics.table_files.api import TABLES, TableForm, answer_page
from spotthebot.contracts.access import Role
from spotthebot.contracts.analytics.standings import StandingOut, TeamBotOut
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.web.bearer.authentication import allow
from spotthebot.kit.web.core.pagination import Page, PageRequest, Paging, page_of
from spotthebot.kit.web.core.resources import resources_of
from spotthebot.kit.web.core.routes import CheckedRoute

router = APIRouter(prefix="/v1/teams/me", tags=["teams"], route_class=CheckedRoute)


@dataclass(frozen=True)
class StandingResources:
    """The bots of teams, and the teams' standings."""

    teams: Teams
    standings: Standings


ServiceResources = Annotated[StandingResources, Depends(resources_of)]
"""The resources that the lifespan of the application opened, as far as standings need them."""


async def _team(caller: Annotated[Principal, Depends(allow(Role.TEAM))]) -> str:
    if not caller.team:
        raise KeyWithoutTeam
    return caller.team


Team = Annotated[str, Depends(_team)]
"""The calling team; the answer is about its own bots."""

_MAX_CAMPAIGNS = 10
"""The limit of campaigns on a page: results that are not stored yet take seconds each."""
_MAX_BOTS = 20
"""The limit of bots on a page: the time of each reply of each bot is read."""


@router.get("/standings", operation_id="list_standings", response_model=Page[StandingOut], responses=TABLES)
async def list_standings(team: Team, form: TableForm, resources: ServiceResources, paging: Paging) -> Response:
    """List the team's standings, one for each campaign with released results, oldest first.

    Numbers and intervals equal the operator's results with standard parameters. Bots of other owners have pseudonyms,
    unless the owners made them public. A page has at most ten campaigns, and fewer if the results of one were
    withdrawn.
    """
    bots = await resources.teams.list_bots(team)
    released = [
        each for each in await resources.teams.list_released(bots) if paging.after is None or each.id > paging.after
    ]
    paging = _at_most(_MAX_CAMPAIGNS, paging)
    campaigns = page_of(released, paging, key=lambda campaign: campaign.id, to_out=lambda campaign: campaign)
    found = [await resources.standings.find(campaign, bots) for campaign in campaigns.items]
    page = Page[StandingOut](items=[each for each in found if each is not None], next_cursor=campaigns.next_cursor)
    return await answer_page(form, "standings", page, standings_table)


@router.get("/bots", operation_id="list_team_bots", response_model=Page[TeamBotOut], responses=TABLES)
async def list_team_bots(team: Team, form: TableForm, resources: ServiceResources, paging: Paging) -> Response:
    """List the team's bots, oldest first, each with its failures and latencies in all of its conversations.

    The answer has no results of annotations, so it does not depend on a release. A page has at most twenty bots.
    """
    bots = [each for each in await resources.teams.list_bots(team) if paging.after is None or each.id > paging.after]
    listed = page_of(bots, _at_most(_MAX_BOTS, paging), key=lambda bot: bot.id, to_out=lambda bot: bot)
    page = Page[TeamBotOut](
        items=[TeamBotOut.of(bot, performance=await resources.teams.get_performance(bot.id)) for bot in listed.items],
        next_cursor=listed.next_cursor,
    )
    return await answer_page(form, "bots", page, team_bots_table)


def _at_most(limit: int, paging: PageRequest) -> PageRequest:
    return paging.model_copy(update={"limit": min(paging.limit, limit)})
