"""`/v1/campaigns/{id}/figures/{name}`: figures as Vega-Lite specs, SVG, PDF or PNG."""

from typing import Annotated, Final

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from spotthebot.analytics.campaigns.api import RequestedCampaign
from spotthebot.analytics.deps import Analyst
from spotthebot.analytics.results.api.deps import FigureParameters, RequestedFigures
from spotthebot.analytics.results.use_cases.figures import Form
from spotthebot.kit.web.core.caching import revalidated
from spotthebot.kit.web.core.routes import CheckedRoute

router = APIRouter(prefix="/v1/campaigns/{campaign_id}/figures", tags=["figures"], route_class=CheckedRoute)

_MEDIA_TYPES: Final[dict[Form, str]] = {
    "json": "application/vnd.vegalite.v6+json",
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "png": "image/png",
}


@router.get(
    "/{figure}",
    operation_id="figure",
    response_class=Response,
    responses={
        200: {
            "description": "The figure.",
            "content": {
                "application/vnd.vegalite.v6+json": {"schema": {"type": "object"}},
                "image/svg+xml": {"schema": {"type": "string"}},
                "application/pdf": {"schema": {"type": "string", "format": "binary"}},
                "image/png": {"schema": {"type": "string", "format": "binary"}},
            },
        }
    },
)
async def figure(
    request: Request,
    _caller: Analyst,
    figures: RequestedFigures,
    campaign_id: RequestedCampaign,
    figure: Annotated[
        str,
        Path(
            max_length=50,
            description="win-matrix, ranking, survival, features, stability or segments; with .json, .svg, .pdf or"
            " .png, or without: then `Accept` decides.",
        ),
    ],
    parameters: FigureParameters,
) -> Response:
    """Return a figure: a Vega-Lite spec with the data inside, or a drawing as SVG, PDF or PNG.

    The spec's `usermeta` has the text below the figure (`caption`), each speaker's place, colours, dash and shape
    (`speakers`), and the field `as_of` of all results.
    """
    name, form = _named(figure, request.headers.get("Accept", ""))
    drawn = await figures.draw(campaign_id, name, form, parameters)
    return revalidated(request, drawn, _MEDIA_TYPES[form])


def _named(figure: str, accept: str) -> tuple[str, Form]:
    name, dot, suffix = figure.rpartition(".")
    forms: dict[str, Form] = {"json": "json", "svg": "svg", "pdf": "pdf", "png": "png"}
    if dot and suffix in forms:
        return name, forms[suffix]
    return figure, next((form for form in ("svg", "pdf", "png") if _MEDIA_TYPES[form] in accept), "json")
