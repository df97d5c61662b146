"""`/campaigns`: the list of campaigns, and the dashboard of one campaign.

The dashboard is a page with several parts.
"""

import asyncio
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from spotthebot.contracts.annotation.campaigns import ENDED, CampaignOut, CampaignState
from spotthebot.contracts.annotation.protocols import LABELS_OF_SPEAKERS
from spotthebot.kit.errors import Error
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.kit.web.pages.headers import policy_with
from spotthebot.web.clients import Services
from spotthebot.web.deps import Pages, Reader, ServicesOfVisitor
from spotthebot.web.layout.pages import fragment
from spotthebot.web.results.pages.measures import MEASURES, load_measures
from spotthebot.web.results.pages.parts import PARTS, Part, load_parts, show_part
from spotthebot.web.results.pages.views import FILTERS, LEVELS, UNITS, WEAK, WEIGHTINGS, View, ViewOfResults

router = APIRouter(prefix="/campaigns", route_class=PageRoute, include_in_schema=False)
_ON_A_PAGE: Final = 25
_FRAMES: Final = policy_with(frame_src="'self'")
"""The policy of pages that show an interactive chart in a frame."""
_FIRST_VIEW_SECONDS: Final = 0.4
"""Cached results arrive in some hundredths of a second; a first computation takes seconds."""
_LATEST_FIRST_VIEW_SECONDS: Final = 2.0
"""Includes the requests that `analytics` sends before it looks for results. They take longer on a busy machine."""
_SHARE_OF_TIMEOUT: Final = 0.9


@router.get("")
async def list_campaigns(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Reader,
    cursor: Annotated[str | None, Query(max_length=100)] = None,
) -> Response:
    """List the campaigns with their progress, newest first."""
    analytics = await services.analytics()
    page = await analytics.list_campaigns(order="newest_first", page_size=_ON_A_PAGE, cursor=cursor).page()
    return pages.page(request, "results/campaigns.html.jinja", campaigns=page.items, next_cursor=page.next_cursor)


@router.get("/{campaign_id:uuid}")
async def dashboard(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Reader,
    campaign_id: UUID,
    view: ViewOfResults,
    whole: Annotated[bool, Query()] = False,  # noqa: FBT002 - in the address
    paper: Annotated[bool, Query()] = False,  # noqa: FBT002 - in the address
) -> Response:
    """Show a campaign's results. The page contains the parts that are cached; a script loads the other parts.

    With `whole` the page contains all parts. With `paper` it also contains all parts, and loads all figures in light
    colours.
    """
    campaign = await (await services.annotation()).get_campaign(campaign_id)
    content = _frame(campaign, view)
    parts = {}
    if content["has_results"]:
        if content["other_protocol"]:
            loaded = await _measures(services, campaign, view, whole=whole or paper)
        elif whole or paper:
            loaded = await _all_parts(services, campaign, view, recent=not paper)
        else:
            loaded = await _first_view(services, campaign, view)
        parts = {name: show_part(pages, request, part, paper=paper) for name, part in loaded.items()}
    shown = content | {"is_live": content["is_live"] and not paper}
    response = pages.page(
        request, "results/dashboard.html.jinja", parts=parts, whole=whole or paper, paper=paper, **shown
    )
    response.headers["Content-Security-Policy"] = _FRAMES
    return response


@router.get("/{campaign_id:uuid}/progress")
async def progress(
    request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Reader, campaign_id: UUID
) -> Response:
    """Return the part of the page with the campaign's progress."""
    campaign = await (await services.annotation()).get_campaign(campaign_id)
    return fragment(request, pages.part(request, "results/progress.html.jinja", **_frame(campaign, View())))


async def _first_view(services: Services, campaign: CampaignOut, view: View) -> dict[str, Part]:
    """Return the parts that are available within a short time. If a service is late or fails, return no part.

    The page's script loads the missing parts.
    """
    try:
        async with asyncio.timeout(_LATEST_FIRST_VIEW_SECONDS):
            return await load_parts(services, campaign, PARTS, view, recent=True, wait_seconds=_FIRST_VIEW_SECONDS)
    except (TimeoutError, Error):
        return {}


async def _measures(services: Services, campaign: CampaignOut, view: View, *, whole: bool) -> dict[str, Part]:
    """Return the part with the measures.

    Return nothing if a service is late or fails: the page's script loads the part later.

    If `whole`, no script loads parts, so this function waits longer.
    """
    seconds = services.timeout_seconds * _SHARE_OF_TIMEOUT if whole else _LATEST_FIRST_VIEW_SECONDS
    try:
        async with asyncio.timeout(seconds):
            return {MEASURES: await load_measures(services, campaign, view)}
    except (TimeoutError, Error):
        return {}


async def _all_parts(services: Services, campaign: CampaignOut, view: View, *, recent: bool) -> dict[str, Part]:
    """Return the parts that are available before the page's time limit. If a service fails, return no part."""
    wait_seconds = services.timeout_seconds * _SHARE_OF_TIMEOUT
    try:
        return await load_parts(services, campaign, PARTS, view, recent=recent, wait_seconds=wait_seconds)
    except Error:
        return {}


def _frame(campaign: CampaignOut, view: View) -> dict[str, Any]:
    return {
        "campaign": campaign,
        "view": view,
        "ended": campaign.state in ENDED,
        "is_live": campaign.state not in {*ENDED, CampaignState.FAILED},
        "missing": max(0, campaign.annotations_needed - campaign.annotations),
        "has_results": campaign.annotations > 0,
        "other_protocol": campaign.protocol not in LABELS_OF_SPEAKERS,
        "part_names": PARTS if campaign.protocol in LABELS_OF_SPEAKERS else (MEASURES,),
        "units": UNITS,
        "weightings": WEIGHTINGS,
        "weak": WEAK,
        "filters": FILTERS,
        "levels": LEVELS,
    }
