"""`/campaigns/{id}/...`: the parts of a dashboard, its figures, its files, and interactive charts."""

import json
from typing import Annotated, Any, Final, Literal, get_args
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import RedirectResponse, Response

from spotthebot.clients import PEER_TROUBLE, Conflict
from spotthebot.clients.analytics import analysis_file, measure_file, result_file
from spotthebot.contracts.analytics.analyses import MoreDataIn, StabilityIn
from spotthebot.contracts.analytics.sections import Revision, SectionName
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.contracts.annotation.measures import LONGEST_MEASURE
from spotthebot.contracts.fed.score_jobs import ScoreJobOut, ScoreJobState
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.kit.web.pages.headers import policy_with
from spotthebot.kit.web.pages.page_errors import wants_page
from spotthebot.web.clients import Services
from spotthebot.web.deps import Pages, Reader, ServicesOfVisitor
from spotthebot.web.layout.pages import fragment
from spotthebot.web.results.pages.measures import MEASURES, load_measures
from spotthebot.web.results.pages.parts import find_analysis, load_part, show_part
from spotthebot.web.results.pages.views import Look, ViewOfResults, drawn_as

router = APIRouter(prefix="/campaigns/{campaign_id:uuid}", route_class=PageRoute, include_in_schema=False)

Figure = Literal["ranking", "win-matrix", "survival", "features", "segments", "stability"]
Analysis = Literal["stability", "more-data"]
_FIGURE_TYPES: Final = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "pdf": "application/pdf",
    "json": "application/vnd.vegalite.v6+json",
}
_DATA_TYPES: Final = {"csv": "text/csv; charset=utf-8", "json": "application/json"}
_EXPLORING: Final = policy_with(
    sandbox="allow-scripts",
    script_src="'self' 'unsafe-eval'",
    style_src="'self' 'unsafe-inline'",
    img_src="data:",
    connect_src="'none'",
    form_action="'none'",
    frame_ancestors="'self'",
)
"""Vega compiles expressions to functions and writes styles.

So its page is a sandbox without cookies and without network access, from which a chart's content can reach nothing.
"""


@router.get("/parts/{part}")
async def part(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Reader,
    campaign_id: UUID,
    part: str,
    view: ViewOfResults,
) -> Response:
    """Return a part of the dashboard. A script gets the part alone, a person gets it in a page."""
    annotation = await services.annotation()
    campaign = await annotation.get_campaign(campaign_id)
    loaded = load_measures(services, campaign, view) if part == MEASURES else load_part(services, campaign, part, view)
    shown = show_part(pages, request, await loaded)
    if wants_page(request):
        jobs = await _score_sets(services, campaign) if part == MEASURES else None
        return pages.page(
            request, "results/one_part.html.jinja", campaign=campaign, view=view, name=part, shown=shown, jobs=jobs
        )
    return fragment(request, shown)


@router.get("/judges")
async def judges(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Reader,
    campaign_id: UUID,
    view: ViewOfResults,
) -> Response:
    """Show what each judge of a campaign is worth, and the most labels that any judge could save."""
    campaign = await (await services.annotation()).get_campaign(campaign_id)
    shown: dict[str, Any] = {"why": None}
    try:
        found = await (await services.analytics()).list_judge_qualities(campaign.id, **view.parameters)
        judged = [each for each in found.measures if each.judges]
        # The other measures of a protocol that asks for labels are these labels again.
        measures = [each for each in judged if each.kind == "preference" or found.ceiling is None]
        speakers = {each.name: each for each in found.speakers}
        shown |= {"result": found, "measures": measures, "speakers": speakers}
    except Conflict as refused:
        shown["why"] = refused.problem.detail
    return pages.page(request, "results/judges.html.jinja", campaign=campaign, view=view, **shown)


@router.get("/decisions")
async def decisions(
    request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Reader, campaign_id: UUID
) -> Response:
    """Show when the annotators of a game decide that a speaker is a bot."""
    campaign = await (await services.annotation()).get_campaign(campaign_id)
    shown: dict[str, Any] = {"found": None, "why": None}
    try:
        shown["found"] = await (await services.analytics()).decision_times(campaign.id)
    except Conflict as refused:
        shown["why"] = refused.problem.detail
    return pages.page(request, "results/decisions.html.jinja", campaign=campaign, **shown)


@router.get("/figures/{figure}.{form}")
async def figure(
    services: ServicesOfVisitor,
    _visitor: Reader,
    campaign_id: UUID,
    figure: Figure,
    form: Literal["svg", "png", "pdf", "json"],
    view: ViewOfResults,
    look: Look,
    download: Annotated[bool, Query()] = False,  # noqa: FBT002 - in the address
    revision: Annotated[Revision | None, Query()] = None,
) -> Response:
    """Return a figure that `analytics` draws, to show or to save. While the campaign runs, it may be some seconds old.

    With a `revision`, the figure shows the same annotations as the page with this revision.
    """
    analytics = await services.analytics()
    asked = drawn_as(view, look, recent=not download)
    asked["revision"] = revision
    drawn = await analytics.figure(campaign_id, f"{figure}.{form}", **asked)
    return _file(drawn, _FIGURE_TYPES[form], f"{figure}.{'vl.json' if form == 'json' else form}", download=download)


@router.get("/figures/{figure}/explore")
async def explore(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Reader,
    campaign_id: UUID,
    figure: Figure,
    view: ViewOfResults,
    look: Look,
) -> Response:
    """Show an interactive figure. Its page is isolated from all other pages and addresses."""
    analytics = await services.analytics()
    spec = await analytics.figure(campaign_id, f"{figure}.json", **drawn_as(view, look, recent=True))
    response = pages.page(
        request,
        "results/explore.html.jinja",
        spec=json.loads(spec),
        figure=figure,
        theme=look["theme"],
        library=pages.charts.url,
    )
    response.headers["Content-Security-Policy"] = _EXPLORING
    return response


@router.get("/data/{section}.{form}")
async def data(
    services: ServicesOfVisitor,
    _visitor: Reader,
    campaign_id: UUID,
    section: SectionName | Analysis,
    form: Literal["csv", "json"],
    view: ViewOfResults,
) -> Response:
    """Return the numbers in a part of the dashboard as a file."""
    analytics = await services.analytics()
    if section in get_args(Analysis):
        job = await find_analysis(analytics, campaign_id, section.replace("-", "_"))
        file = analysis_file(job.id, form)
    else:
        file = result_file(campaign_id, section, form, **view.parameters)
    content = await analytics.carry_out(file)
    return _file(content, _DATA_TYPES[form], f"{section}.{form}", download=True)


@router.get("/measures/{measure}.{form}")
async def measure_data(
    services: ServicesOfVisitor,
    _visitor: Reader,
    campaign_id: UUID,
    measure: Annotated[str, Path(max_length=LONGEST_MEASURE)],
    form: Literal["csv", "json"],
    view: ViewOfResults,
) -> Response:
    """Return the numbers of a measure as a file. The JSON file also has every pair of bots."""
    content = await (await services.analytics()).carry_out(measure_file(campaign_id, measure, form, **view.of_measures))
    return _file(content, _DATA_TYPES[form], f"{measure.replace(':', '-')}.{form}", download=True)


@router.post("/stability")
async def compute_stability(
    services: ServicesOfVisitor, _visitor: Reader, campaign_id: UUID, view: ViewOfResults
) -> Response:
    """Start two long analyses: the stability of the ranking, and the number of conversations that it still needs."""
    annotation, analytics = await services.annotation(), await services.analytics()
    campaign = await annotation.get_campaign(campaign_id)
    failed = [job async for job in analytics.list_analyses(campaign_id=campaign_id) if job.failure is not None]
    # Who sends the form twice starts nothing twice: the same annotations give the same result.
    key = f"{campaign_id}-{campaign.annotations}-{len(failed)}-{view.query}"
    level = view.parameters["confidence_level"]
    await analytics.create_analysis(
        MoreDataIn(campaign_id=campaign_id, filter=view.filter, unit=view.unit, confidence_level=level),
        idempotency_key=f"{key}-more",
    )
    await analytics.create_analysis(
        StabilityIn(campaign_id=campaign_id, filter=view.filter), idempotency_key=f"{key}-stability"
    )
    return RedirectResponse(view.address(f"/campaigns/{campaign_id}") + "#stability", status_code=303)


async def _score_sets(services: Services, campaign: CampaignOut) -> list[ScoreJobOut]:
    """Return the complete score sets of a campaign's collections; none if the service does not answer."""
    fed, ids = await services.fed(), campaign.collections
    try:
        jobs = [each for collection in ids async for each in fed.list_score_jobs(collection_id=collection)]
    except PEER_TROUBLE:
        return []
    return [each for each in jobs if each.state is ScoreJobState.COMPLETE]


def _file(content: bytes, media_type: str, name: str, *, download: bool) -> Response:
    headers = {"Cache-Control": "no-store"}
    if download:
        headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return Response(content, media_type=media_type, headers=headers)
