"""The page with the leaderboard of a game."""

from contextlib import suppress
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from spotthebot.clients import Conflict
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.deps import AnnotatorOfCampaign, Pages, ServicesOfFrontend
from spotthebot.web.games.domain import Board, board_of

router = APIRouter(prefix="/annotate/{campaign_id}/leaderboard", route_class=PageRoute, include_in_schema=False)
_MAX_AT_ONCE = 1000


@router.get("")
async def show(
    request: Request,
    pages: Pages,
    services: ServicesOfFrontend,
    annotator: AnnotatorOfCampaign,
    campaign_id: UUID,
    part: Annotated[bool, Query(description="The leaderboard without the page around it.")] = False,  # noqa: FBT002
) -> Response:
    """Show the leaderboard of a game: ranks while the game runs, points after its end."""
    analytics = await services.analytics()
    board: Board | None = None
    with suppress(Conflict):  # no game, or one without points: the reason names what annotators don't see
        ranks = [each async for each in analytics.list_annotator_ranks(campaign_id, page_size=_MAX_AT_ONCE)]
        board = board_of(ranks, annotator.pseudonym)
    return pages.page(
        request,
        f"games/{'board' if part else 'leaderboard'}.html.jinja",
        campaign_id=campaign_id,
        board=board,
    )
