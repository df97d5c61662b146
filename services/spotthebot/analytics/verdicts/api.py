"""`/v1/campaigns/{id}/verdicts`: which pairs of bots are decided while a campaign runs."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from spotthebot.analytics.campaigns.api import RequestedCampaign
from spotthebot.analytics.deps import Analyst
from spotthebot.analytics.table_files.api import TABLES, TableForm, answer_page
from spotthebot.analytics.table_files.domain import table_of
from spotthebot.analytics.verdicts.use_cases import Verdicts
from spotthebot.contracts.analytics.verdicts import PairVerdictOut, RequestedMargin
from spotthebot.kit.web.core.pagination import Page, Paging, page_of_list
from spotthebot.kit.web.core.resources import resources_of
from spotthebot.kit.web.core.routes import CheckedRoute

router = APIRouter(prefix="/v1/campaigns/{campaign_id}", tags=["verdicts"], route_class=CheckedRoute)


@dataclass(frozen=True)
class VerdictResources:
    """The verdicts on pairs of bots."""

    verdicts: Verdicts


ServiceResources = Annotated[VerdictResources, Depends(resources_of)]
"""The resources that the lifespan of the application opened, as far as verdicts need them."""


@router.get("/verdicts", operation_id="list_verdicts", response_model=Page[PairVerdictOut], responses=TABLES)
async def list_verdicts(
    _caller: Analyst,
    form: TableForm,
    resources: ServiceResources,
    campaign_id: RequestedCampaign,
    paging: Paging,
    margin: Annotated[RequestedMargin, Query()] = None,
) -> Response:
    """List the pairs of bots with their verdicts: ahead, behind, equivalent or open.

    It may be read at any time and any number of times: with a probability of 95 % no pair of the campaign ever gets a
    false verdict. A verdict that was given stays. For an open pair, the answer has about how many more conversations or
    annotators would decide it.
    """
    page = page_of_list(await resources.verdicts.look(campaign_id, margin), paging)
    return await answer_page(form, "verdicts", page, lambda found: table_of(PairVerdictOut, found))
