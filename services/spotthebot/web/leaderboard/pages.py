"""`/leaderboard`: campaign results that an administrator published. Everybody can read them."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.claims.domain import board_claim
from spotthebot.web.claims.pages import writer_of_claims
from spotthebot.web.deps import MaybeVisitor, Pages, ServicesOfAnyone
from spotthebot.web.marks.domain import marks_of

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
    """Show the campaigns with public results. The campaign published last comes first."""
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
