"""`/v1/campaigns/{id}/figures/{name}`: figures as Vega-Lite specs, SVG, PDF or PNG."""

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.responses import Response

from spotthebot.analytics.api.deps import Analyst, RequestedCampaign, Results
from spotthebot.analytics.use_cases.figures import Form, draw_figure
from spotthebot.contracts.analytics import FigureParametersIn
from spotthebot.kit.database import Database
from spotthebot.kit.web.core.caching import revalidated
from spotthebot.kit.web.core.routes import CheckedRoute
from spotthebot.kit.web.database.sessions import get_database

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
    results: Results,
    database: Annotated[Database, Depends(get_database)],
    campaign_id: RequestedCampaign,
    figure: Annotated[
        str,
        Path(
            max_length=50,
            description="win-matrix, ranking, survival, features, stability or segments; with .json, .svg, .pdf or"
            " .png, or without: then `Accept` decides.",
        ),
    ],
    parameters: Annotated[FigureParametersIn, Query()],
) -> Response:
    """Return a figure: a Vega-Lite spec with the data inside, or rendered.

    `usermeta` of the spec has what stands under the figure (`caption`) and every speaker's place, colours, dash and
    shape (`speakers`), which all results have too.
    """
    name, form = _named(figure, request.headers.get("Accept", ""))
    drawn = await draw_figure(database, results, campaign_id, name, form, parameters)
    return revalidated(request, drawn, _MEDIA_TYPES[form])


def _named(figure: str, accept: str) -> tuple[str, Form]:
    name, dot, suffix = figure.rpartition(".")
    forms: dict[str, Form] = {"json": "json", "svg": "svg", "pdf": "pdf", "png": "png"}
    if dot and suffix in forms:
        return name, forms[suffix]
    return figure, next((form for form in ("svg", "pdf", "png") if _MEDIA_TYPES[form] in accept), "json")
