"""`/campaigns/{id}/mixed-model` and `/studies/{id}/mixed-model`: one measure by a mixed model, as papers print it.

Its own page, because a fit takes seconds where there are many ratings: only who follows the link has it computed.
"""

from typing import Annotated, Final, get_args
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from spotthebot.contracts.analytics.choices import MixedModelKind
from spotthebot.contracts.analytics.measures import MeasureOut
from spotthebot.contracts.annotation.studies import LONGEST_STUDY_MEASURE
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.deps import Pages, Reader, ServicesOfVisitor
from spotthebot.web.rendering import Renderer
from spotthebot.web.results.pages.views import ViewOfResults

router = APIRouter(route_class=PageRoute, include_in_schema=False)

_KINDS: Final[tuple[MixedModelKind, ...]] = get_args(MixedModelKind)
NameOfMeasure = Annotated[str, Query(min_length=1, max_length=LONGEST_STUDY_MEASURE)]


@router.get("/campaigns/{campaign_id:uuid}/mixed-model")
async def of_campaign(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Reader,
    campaign_id: UUID,
    measure: NameOfMeasure,
    view: ViewOfResults,
    kind: Annotated[MixedModelKind, Query()] = "cumulative_link",
) -> Response:
    """Show the mixed model of one measure of a campaign."""
    analytics = await services.analytics()
    found = await analytics.get_measure(campaign_id, measure, mixed_model=kind, **view.of_measures)
    path = f"/campaigns/{campaign_id}"
    addresses = {each: view.address(f"{path}/mixed-model", measure=measure, kind=each) for each in _KINDS}
    return _page(pages, request, found, kind, view.address(path), found.campaign, addresses)


@router.get("/studies/{study_id:uuid}/mixed-model")
async def of_study(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Reader,
    study_id: UUID,
    measure: NameOfMeasure,
    kind: Annotated[MixedModelKind, Query()] = "cumulative_link",
) -> Response:
    """Show the mixed model of one measure of a study, by the name that the study gives it."""
    annotation, analytics = await services.annotation(), await services.analytics()
    study = await annotation.get_study(study_id)
    found = await analytics.get_study_measure(study_id, measure, mixed_model=kind)
    path = f"/studies/{study_id}"
    addresses = {each: f"{path}/mixed-model?{urlencode({'measure': measure, 'kind': each})}" for each in _KINDS}
    return _page(pages, request, found, kind, path, study.name, addresses)


def _page(
    pages: Renderer,
    request: Request,
    found: MeasureOut,
    kind: MixedModelKind,
    parent: str,
    name: str,
    addresses: dict[MixedModelKind, str],
) -> Response:
    """Show a fit. `parent` and `name` are of the page that links here, `addresses` of the fits of either kind."""
    return pages.page(
        request,
        "results/mixed_model.html.jinja",
        result=found,
        model=found.mixed_model,
        kind=kind,
        parent=parent,
        name=name,
        addresses=addresses,
        speakers={each.name: each for each in found.speakers},
    )
