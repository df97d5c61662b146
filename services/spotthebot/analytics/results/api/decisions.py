"""`/v1/campaigns/{id}/decision-times`: when annotators of a game decide that a speaker is a bot."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from spotthebot.analytics.campaigns.api import RequestedCampaign
from spotthebot.analytics.deps import Analyst
from spotthebot.analytics.results.api.deps import ServiceResources
from spotthebot.contracts.analytics.decision_times import DecisionParametersIn, DecisionTimesOut
from spotthebot.kit.web.core.caching import revalidated
from spotthebot.kit.web.core.routes import CheckedRoute

router = APIRouter(prefix="/v1/campaigns/{campaign_id}", tags=["results"], route_class=CheckedRoute)


@router.get("/decision-times", operation_id="decision_times", response_model=DecisionTimesOut)
async def decision_times(
    request: Request,
    _caller: Analyst,
    resources: ServiceResources,
    campaign_id: RequestedCampaign,
    parameters: Annotated[DecisionParametersIn, Query()],
) -> Response:
    """Return how long each speaker of a game stays unspotted, and which features shorten that time.

    Annotators open one exchange after the other, so the exchange of each decision is known: Kaplan-Meier curves and
    Cox's regression for exact times, log-rank tests of all pairs by Holm's method, next to the same decisions taken as
    inspections. Needs a campaign by the protocol
    `spot_the_bot_gamified`; its version 2 asks for the features.
    """
    return revalidated(request, await resources.results.get_decision_times(campaign_id, parameters), "application/json")
