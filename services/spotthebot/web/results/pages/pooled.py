"""`/campaigns/pooled`: one result of several campaigns of one protocol, and its mean over them."""

from typing import Annotated, Any, Final, get_args
from uuid import UUID

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from spotthebot.clients import Conflict
from spotthebot.contracts.analytics.choices import PooledResult
from spotthebot.contracts.analytics.pooled import MAX_POOLED
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.deps import Pages, Reader, ServicesOfVisitor

router = APIRouter(prefix="/campaigns", route_class=PageRoute, include_in_schema=False)
_RESULTS: Final[tuple[PooledResult, ...]] = get_args(PooledResult)
_LISTED: Final = 1000


@router.get("/pooled")
async def pooled(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Reader,
    campaigns: Annotated[tuple[UUID, ...], Query(max_length=MAX_POOLED)] = (),
    result: Annotated[PooledResult, Query()] = "agreement",
) -> Response:
    """Show the campaigns to choose from; of two or more that are chosen also the result with its mean."""
    analytics = await services.analytics()
    listed = await analytics.list_campaigns(page_size=_LISTED).page()
    chosen = tuple(dict.fromkeys(campaigns))
    shown: dict[str, Any] = {"result": result, "results": _RESULTS, "found": None, "why": None}
    if len(chosen) > 1:
        try:
            shown["found"] = await analytics.pool_campaigns(result=result, campaigns=chosen)
        except Conflict as refused:
            shown["why"] = refused.problem.detail
    return pages.page(request, "results/pooled.html.jinja", listed=listed.items, chosen=chosen, **shown)
