"""`/campaigns/cost`: what an evaluation costs by annotating conversations, and by chatting with the bots."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from spotthebot.contracts.analytics.costs import CostIn
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.deps import Pages, Reader, ServicesOfVisitor

router = APIRouter(prefix="/campaigns", route_class=PageRoute, include_in_schema=False)


@router.get("/cost")
async def cost(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Reader,
    design: Annotated[CostIn, Query()],
) -> Response:
    """Show the form with both designs, their hours and cost, and where they cross."""
    found = await (await services.analytics()).get_cost(**dict(design))
    return pages.page(request, "results/cost.html.jinja", design=design, found=found, fields=[*CostIn.model_fields])
