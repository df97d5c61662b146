"""`/v1/leaderboards`: public results, for everybody; no key is needed."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from spotthebot.analytics.leaderboards.use_cases import Leaderboards
from spotthebot.contracts.analytics.standings import PublicRankingOut
from spotthebot.kit.web.core.pagination import BadCursor, Page
from spotthebot.kit.web.core.resources import resources_of
from spotthebot.kit.web.core.routes import CheckedRoute

router = APIRouter(prefix="/v1/leaderboards", tags=["leaderboards"], route_class=CheckedRoute)


@dataclass(frozen=True)
class LeaderboardResources:
    """The public results."""

    leaderboards: Leaderboards


ServiceResources = Annotated[LeaderboardResources, Depends(resources_of)]
"""The resources that the lifespan of the application opened, as far as public results need them."""
_MAX_LIMIT = 10


@router.get("", operation_id="list_leaderboards")
async def list_leaderboards(
    resources: ServiceResources,
    cursor: Annotated[str | None, Query(max_length=9, description="`next_cursor` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="Most items to return; a page holds ten at most.")] = 10,
) -> Page[PublicRankingOut]:
    """List the campaigns with public results, latest publication first. No key is needed.

    Numbers and intervals equal the operator's results with standard parameters. Bots have pseudonyms, unless their
    owners made them public. A withdrawn result disappears within ten seconds.
    """
    if cursor is not None and not (cursor.isascii() and cursor.isdigit()):
        raise BadCursor
    found = await resources.leaderboards.list()
    start = int(cursor or 0)
    end = start + min(limit, _MAX_LIMIT)
    return Page[PublicRankingOut](items=list(found[start:end]), next_cursor=str(end) if end < len(found) else None)
