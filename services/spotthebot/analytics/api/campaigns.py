"""`/v1/campaigns`: the campaigns that there are, by their names."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from spotthebot.analytics.api.deps import Analyst, CampaignsClient
from spotthebot.analytics.api.tables import TABLES, TableForm, answer_page
from spotthebot.analytics.domain.tables import table_of
from spotthebot.clients import Invalid
from spotthebot.contracts.analytics.tables import CampaignSummaryOut
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.wire import Name
from spotthebot.kit.web.core.pagination import MAX_LIMIT, BadCursor, Page
from spotthebot.kit.web.core.routes import CheckedRoute

router = APIRouter(prefix="/v1/campaigns", tags=["campaigns"], route_class=CheckedRoute)


@router.get("", operation_id="list_campaigns", response_model=Page[CampaignSummaryOut], responses=TABLES)
async def list_campaigns(
    _caller: Analyst,
    form: TableForm,
    campaigns: CampaignsClient,
    name: Annotated[Name | None, Query()] = None,
    cursor: Annotated[str | None, Query(max_length=100, description="`next_cursor` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT, description="Most items to return.")] = 50,
) -> Response:
    """List campaigns, oldest first, as `annotation` has them: their names and ids, and how far they are."""
    try:
        found = await campaigns.list_page(name=name, cursor=cursor, limit=limit)
    except Invalid as refused:  # the cursor is that of the service `annotation`, which alone can check it
        raise BadCursor from refused
    page = Page[CampaignSummaryOut](items=[_to_out(each) for each in found.items], next_cursor=found.next_cursor)
    return await answer_page(form, "campaigns", page, lambda rows: table_of(CampaignSummaryOut, rows))


def _to_out(campaign: CampaignOut) -> CampaignSummaryOut:
    return CampaignSummaryOut(
        id=campaign.id,
        name=campaign.name,
        domain=campaign.domain,
        state=campaign.state,
        protocol=campaign.protocol,
        annotations=campaign.annotations,
        annotations_needed=campaign.annotations_needed,
        released_at=campaign.released_at,
        created_at=campaign.created_at,
    )
