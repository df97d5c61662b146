"""Results of a study: the measures of all its tasks and chats, and which of them deserve trust."""

from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Request
from starlette.responses import Response

from spotthebot.analytics.deps import Analyst, RequestAgreementParameters, RequestMeasureParameters, RequestParameters
from spotthebot.analytics.studies.use_cases import StudyResults
from spotthebot.analytics.table_files.api import FILES, TABLES, TableForm, answer, file_form, stream
from spotthebot.analytics.table_files.domain import Table, table_of
from spotthebot.contracts.analytics.measures import MeasuredBot, MeasureOut
from spotthebot.contracts.analytics.studies import StudyAssessmentOut, StudyMeasuresOut
from spotthebot.contracts.analytics.tables import ValueRow
from spotthebot.contracts.analytics.workforces import WorkforceAgreementsOut
from spotthebot.contracts.annotation.studies import LONGEST_STUDY_MEASURE
from spotthebot.kit.web.core.caching import revalidated
from spotthebot.kit.web.core.resources import resources_of
from spotthebot.kit.web.core.routes import CheckedRoute

router = APIRouter(prefix="/v1/studies/{study_id}", tags=["studies"], route_class=CheckedRoute)
_JSON = "application/json"


@dataclass(frozen=True)
class StudyResources:
    """The results of studies."""

    study_results: StudyResults


ServiceResources = Annotated[StudyResources, Depends(resources_of)]
"""The resources that the lifespan of the application opened, as far as studies need them."""


@router.get("/measures", operation_id="list_study_measures", response_model=StudyMeasuresOut)
async def list_study_measures(
    request: Request, _caller: Analyst, resources: ServiceResources, study_id: UUID, parameters: RequestParameters
) -> Response:
    """Return the results of all bots by every measure of a study's tasks and chats."""
    return revalidated(request, await resources.study_results.get_measures(study_id, parameters), _JSON)


@router.get("/workforces", operation_id="list_study_workforce_agreements", response_model=WorkforceAgreementsOut)
async def list_study_workforce_agreements(
    request: Request,
    _caller: Analyst,
    resources: ServiceResources,
    study_id: UUID,
    parameters: RequestAgreementParameters,
) -> Response:
    """Return how much the annotators of each workforce of each campaign of a study agree, by every measure.

    With `period`, the answer also has rows of each period, such as a pilot round.
    """
    return revalidated(request, await resources.study_results.get_agreements(study_id, parameters), _JSON)


@router.get("/values", operation_id="export_study_values", response_class=Response, responses=FILES)
async def export_study_values(
    request: Request, _caller: Analyst, resources: ServiceResources, study_id: UUID, parameters: RequestParameters
) -> Response:
    """Return every value of every measure of a study as a table of ratings (CSV or Parquet), with the names of bots.

    `stb analyse table FILE --assess OUTCOME` reads it and assesses the measures as `/assessment` does. Values of people
    who are rated are left out.
    """
    form = file_form(request)
    table = await resources.study_results.get_values(study_id, parameters)
    return stream(form, "values", Table(ValueRow, table))


@router.get("/assessment", operation_id="assess_study", response_model=StudyAssessmentOut)
async def assess_study(
    request: Request, _caller: Analyst, resources: ServiceResources, study_id: UUID, parameters: RequestParameters
) -> Response:
    """Return which measures of a study deserve trust, by the study's outcome, and which of them to keep."""
    return revalidated(request, await resources.study_results.get_assessment(study_id, parameters), _JSON)


@router.get("/measures/{measure:path}", operation_id="get_study_measure", response_model=MeasureOut, responses=TABLES)
async def get_study_measure(
    _caller: Analyst,
    form: TableForm,
    resources: ServiceResources,
    study_id: UUID,
    measure: Annotated[
        str, Path(max_length=LONGEST_STUDY_MEASURE, description="What the study calls it: see `GET .../measures`.")
    ],
    parameters: RequestMeasureParameters,
) -> Response:
    """Return the results of one measure: bots with intervals and ranks, and the difference of every pair of bots."""
    body = await resources.study_results.get_measure(study_id, measure, parameters)
    return await answer(form, "measure", body, lambda: table_of(MeasuredBot, MeasureOut.model_validate_json(body).bots))
