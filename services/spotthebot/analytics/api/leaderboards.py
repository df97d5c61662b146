"""`/v1/leaderboards`: results that were made public, for everybody, without a key."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request

from spotthebot.analytics.use_cases.leaderboards import Leaderboards
from spotthebot.contracts.analytics.standings import PublicRankingOut
from spotthebot.kit.web.core.pagination import BadCursor, Page
from spotthebot.kit.web.core.routes import CheckedRoute

router = APIRouter(prefix="/v1/leaderboards", tags=["leaderboards"], route_class=CheckedRoute)
_MAX_LIMIT = 10


async def _leaderboards(request: Request) -> Leaderboards:
    leaderboards: Leaderboards = request.app.state.leaderboards
    return leaderboards


@router.get("", operation_id="list_leaderboards")
async def list_leaderboards(
    leaderboards: Annotated[Leaderboards, Depends(_leaderboards)],
    cursor: Annotated[str | None, Query(max_length=9, description="`next_cursor` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="Most items to return; a page holds ten at most.")] = 10,
) -> Page[PublicRankingOut]:
    """List the campaigns whose results were made public, those published last first. No key is needed.

    Figures and intervals are those of the operator's results with standard parameters. Bots have pseudonyms, unless
    their owners made them public. What is withdrawn is gone within ten seconds.
    """
    if cursor is not None and not (cursor.isascii() and cursor.isdigit()):
        raise BadCursor
    found = await leaderboards.list()
    start = int(cursor or 0)
    end = start + min(limit, _MAX_LIMIT)
    return Page[PublicRankingOut](items=list(found[start:end]), next_cursor=str(end) if end < len(found) else None)
