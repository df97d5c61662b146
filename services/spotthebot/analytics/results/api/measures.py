"""Results of a campaign by its measures. Each question that the protocol asks about bots has a measure."""

from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from spotthebot.analytics.campaigns.api import RequestedCampaign
from spotthebot.analytics.deps import (
    Analyst,
    RequestAgreementParameters,
    RequestCampaignMeasure,
    RequestCampaignMeasures,
    RequestParameters,
)
from spotthebot.analytics.results.api.deps import ServiceResources
from spotthebot.analytics.table_files.api import FILES, TABLES, TableForm, answer, file_form, stream
from spotthebot.analytics.table_files.domain import Table, table_of
from spotthebot.contracts.analytics.interactor_ratings import InteractorRatingsOut
from spotthebot.contracts.analytics.judges import JudgesOut
from spotthebot.contracts.analytics.measures import MeasuredBot, MeasureOut, MeasuresOut
from spotthebot.contracts.analytics.tables import ValueRow
from spotthebot.contracts.analytics.workforces import WorkforceAgreementsOut
from spotthebot.contracts.annotation.measures import LONGEST_MEASURE
from spotthebot.kit.web.core.caching import revalidated
from spotthebot.kit.web.core.routes import CheckedRoute

router = APIRouter(prefix="/v1/campaigns/{campaign_id}", tags=["results"], route_class=CheckedRoute)
_JSON = "application/json"


@router.get("/measures", operation_id="list_measures", response_model=MeasuresOut)
async def list_measures(
    request: Request,
    _caller: Analyst,
    resources: ServiceResources,
    campaign_id: RequestedCampaign,
    parameters: RequestCampaignMeasures,
) -> Response:
    """Return the results of all bots by every measure of a campaign, and how much annotators agree.

    `scores` and `latency` add measures that no annotator gives.
    """
    return revalidated(request, await resources.measure_results.get_measures(campaign_id, parameters), _JSON)


@router.get("/workforces", operation_id="list_workforce_agreements", response_model=WorkforceAgreementsOut)
async def list_workforce_agreements(
    request: Request,
    _caller: Analyst,
    resources: ServiceResources,
    campaign_id: RequestedCampaign,
    parameters: RequestAgreementParameters,
) -> Response:
    """Return how much the annotators of each workforce of a campaign agree, in all labels and by every measure.

    With `period`, the answer also has rows of each period, such as a pilot round.
    """
    return revalidated(request, await resources.results.get_agreements(campaign_id, parameters), _JSON)


@router.get("/interactor-ratings", operation_id="interactor_ratings", response_model=InteractorRatingsOut)
async def interactor_ratings(
    request: Request,
    _caller: Analyst,
    resources: ServiceResources,
    campaign_id: RequestedCampaign,
    parameters: RequestParameters,
) -> Response:
    """Return what people said of their chats with the bots, and whether it orders the bots as fooling rates do.

    The chats are those of the campaign's collections, held in this suite or imported.
    """
    return revalidated(request, await resources.results.get_interactor_ratings(campaign_id, parameters), _JSON)


@router.get("/judges", operation_id="list_judge_qualities", response_model=JudgesOut)
async def list_judge_qualities(
    request: Request,
    _caller: Analyst,
    resources: ServiceResources,
    campaign_id: RequestedCampaign,
    parameters: RequestParameters,
) -> Response:
    """Return what each judge of a campaign is worth: its agreement with people, its calibration, the labels it saves.

    The ceiling is the largest share of labels that any judge could save. A judge is a program: no other result of the
    campaign includes its labels.
    """
    return revalidated(request, await resources.results.get_judges(campaign_id, parameters), _JSON)


@router.get("/values", operation_id="export_values", response_class=Response, responses=FILES)
async def export_values(
    request: Request,
    _caller: Analyst,
    resources: ServiceResources,
    campaign_id: RequestedCampaign,
    parameters: RequestCampaignMeasures,
) -> Response:
    """Return every value of every measure as a table of ratings (CSV or Parquet), with the names of bots.

    Tables of several campaigns over the same conversations can be put together: `stb analyse table` reads them.
    """
    form = file_form(request)
    rows = await resources.measure_results.get_values(campaign_id, parameters)
    return stream(form, "values", Table(ValueRow, rows))


@router.get("/measures/{measure}", operation_id="get_measure", response_model=MeasureOut, responses=TABLES)
async def get_measure(
    _caller: Analyst,
    form: TableForm,
    resources: ServiceResources,
    campaign_id: RequestedCampaign,
    measure: Annotated[
        str, Path(max_length=LONGEST_MEASURE, description="Its name; `headline`: the one that ranks bots.")
    ],
    parameters: RequestCampaignMeasure,
) -> Response:
    """Return the results of one measure: bots with intervals and ranks, and the difference of every pair of bots."""
    body = await resources.measure_results.get_measure(campaign_id, measure, parameters)
    return await answer(form, "measure", body, lambda: table_of(MeasuredBot, MeasureOut.model_validate_json(body).bots))
