"""`/v1/campaigns`: a list of the campaigns, and the campaign that another request names."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query
from starlette.responses import Response

from spotthebot.analytics.campaigns.use_cases import resolve_campaign
from spotthebot.analytics.deps import Analyst
from spotthebot.analytics.resources import ServiceResources
from spotthebot.analytics.table_files.api import TABLES, TableForm, answer_page
from spotthebot.analytics.table_files.domain import table_of
from spotthebot.clients import Invalid
from spotthebot.contracts.analytics.tables import CampaignSummaryOut
from spotthebot.contracts.wire import Name
from spotthebot.kit.web.core.pagination import MAX_LIMIT, BadCursor, Order, Page
from spotthebot.kit.web.core.routes import CheckedRoute

router = APIRouter(prefix="/v1/campaigns", tags=["campaigns"], route_class=CheckedRoute)

_MAX_NAME = 200


async def _requested_campaign(
    resources: ServiceResources,
    campaign_id: Annotated[str, Path(max_length=_MAX_NAME, description="The campaign: its id, or its name.")],
) -> UUID:
    return await resolve_campaign(resources.campaigns, campaign_id)


async def _filtered_campaign(
    resources: ServiceResources,
    campaign_id: Annotated[
        str | None, Query(max_length=_MAX_NAME, description="A campaign: its id, or its name.")
    ] = None,
) -> UUID | None:
    return None if campaign_id is None else await resolve_campaign(resources.campaigns, campaign_id)


RequestedCampaign = Annotated[UUID, Depends(_requested_campaign)]
"""The campaign in the path, which holds its id or its name."""
FilteredCampaign = Annotated[UUID | None, Depends(_filtered_campaign)]
"""The campaign in the query, or None."""


@router.get("", operation_id="list_campaigns", response_model=Page[CampaignSummaryOut], responses=TABLES)
async def list_campaigns(
    _caller: Analyst,
    form: TableForm,
    resources: ServiceResources,
    name: Annotated[Name | None, Query()] = None,
    order: Order = "oldest_first",
    cursor: Annotated[str | None, Query(max_length=100, description="`next_cursor` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT, description="Most items to return.")] = 50,
) -> Response:
    """List the campaigns of `annotation`: their names, ids and progress."""
    try:
        found = await resources.campaigns.list_page(name=name, order=order, cursor=cursor, limit=limit)
    except Invalid as refused:  # only the service `annotation` can check its cursor
        raise BadCursor from refused
    page = Page[CampaignSummaryOut](
        items=[CampaignSummaryOut.of(each) for each in found.items], next_cursor=found.next_cursor
    )
    return await answer_page(form, "campaigns", page, lambda rows: table_of(CampaignSummaryOut, rows))
