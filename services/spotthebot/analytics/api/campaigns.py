"""`/v1/campaigns`: a list of the campaigns."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from spotthebot.analytics.api.deps import Analyst, ServiceResources
from spotthebot.analytics.api.tables import TABLES, TableForm, answer_page
from spotthebot.analytics.domain.tables import table_of
from spotthebot.clients import Invalid
from spotthebot.contracts.analytics.tables import CampaignSummaryOut
from spotthebot.contracts.wire import Name
from spotthebot.kit.web.core.pagination import MAX_LIMIT, BadCursor, Page
from spotthebot.kit.web.core.routes import CheckedRoute

router = APIRouter(prefix="/v1/campaigns", tags=["campaigns"], route_class=CheckedRoute)


@router.get("", operation_id="list_campaigns", response_model=Page[CampaignSummaryOut], responses=TABLES)
async def list_campaigns(
    _caller: Analyst,
    form: TableForm,
    resources: ServiceResources,
    name: Annotated[Name | None, Query()] = None,
    cursor: Annotated[str | None, Query(max_length=100, description="`next_cursor` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT, description="Most items to return.")] = 50,
) -> Response:
    """List the campaigns of `annotation`, oldest first: their names, ids and progress."""
    try:
        found = await resources.campaigns.list_page(name=name, cursor=cursor, limit=limit)
    except Invalid as refused:  # only the service `annotation` can check its cursor
        raise BadCursor from refused
    page = Page[CampaignSummaryOut](
        items=[CampaignSummaryOut.of(each) for each in found.items], next_cursor=found.next_cursor
    )
    return await answer_page(form, "campaigns", page, lambda rows: table_of(CampaignSummaryOut, rows))
