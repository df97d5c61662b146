"""`/leaderboard`: the results that an administrator made public, for everybody."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.domain.claims import board_claim
from spotthebot.web.domain.marks import marks_of
from spotthebot.web.pages.claims import writer_of_claims
from spotthebot.web.pages.deps import MaybeVisitor, Pages, ServicesOfAnyone

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_ON_A_PAGE = 5


@router.get("/leaderboard")
async def leaderboard(
    request: Request,
    pages: Pages,
    services: ServicesOfAnyone,
    _visitor: MaybeVisitor,
    cursor: Annotated[str | None, Query(max_length=9)] = None,
) -> Response:
    """Show the public campaigns, those published last first."""
    analytics = await services.analytics()
    page = await analytics.list_leaderboards(page_size=_ON_A_PAGE, cursor=cursor).page()
    return pages.page(
        request,
        "leaderboard/leaderboard.html.jinja",
        boards=page.items,
        next_cursor=page.next_cursor,
        marks=marks_of,
        claim_of=board_claim,
        claimed=writer_of_claims(pages, request),
    )
