"""`/campaigns`: the campaigns that there are, and the dashboard of one: its frame, which its parts fill."""

import asyncio
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from spotthebot.contracts.annotation.campaigns import CampaignOut, CampaignState
from spotthebot.kit.errors import Error
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.kit.web.pages.headers import policy_with
from spotthebot.web.clients import Services
from spotthebot.web.pages.deps import Pages, Reader, ServicesOfVisitor
from spotthebot.web.pages.fragments import fragment
from spotthebot.web.pages.parts import PARTS, Part, load_parts, show_part
from spotthebot.web.pages.views import FILTERS, LEVELS, UNITS, View, ViewOfResults

router = APIRouter(prefix="/campaigns", route_class=PageRoute, include_in_schema=False)
_ON_A_PAGE: Final = 25
_ENDED: Final = frozenset({CampaignState.COMPLETE, CampaignState.CLOSED})
_FRAMES: Final = policy_with(frame_src="'self'")
"""Of pages that show a chart to explore in a frame."""
_FIRST_VIEW_SECONDS: Final = 0.4
"""Results that are kept are there in some hundredths of a second; a first computation takes seconds."""
_LATEST_FIRST_VIEW_SECONDS: Final = 2.0
"""With the questions that `analytics` asks before it looks for results; a busy machine takes longer for them."""
_SHARE_OF_TIMEOUT: Final = 0.9


@router.get("")
async def list_campaigns(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Reader,
    cursor: Annotated[str | None, Query(max_length=100)] = None,
) -> Response:
    """List the campaigns, oldest first, with how far they are."""
    analytics = await services.analytics()
    page = await analytics.list_campaigns(page_size=_ON_A_PAGE, cursor=cursor).page()
    return pages.page(request, "dashboard/campaigns.html.jinja", campaigns=page.items, next_cursor=page.next_cursor)


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
    """Show a campaign's results: the parts that are kept, and a frame that a script fills with the others.

    With `whole` all parts stand in the page; for `paper` they do, too, and figures are light and all loaded.
    """
    campaign = await (await services.annotation()).get_campaign(campaign_id)
    content = _frame(campaign, view)
    parts = {}
    if content["has_results"]:
        if whole or paper:
            loaded = await _all_parts(services, campaign, view, recent=not paper)
        else:
            loaded = await _first_view(services, campaign, view)
        parts = {name: show_part(pages, request, part, paper=paper) for name, part in loaded.items()}
    shown = content | {"is_live": content["is_live"] and not paper}
    response = pages.page(
        request, "dashboard/dashboard.html.jinja", parts=parts, whole=whole or paper, paper=paper, **shown
    )
    response.headers["Content-Security-Policy"] = _FRAMES
    return response


@router.get("/{campaign_id:uuid}/progress")
async def progress(
    request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Reader, campaign_id: UUID
) -> Response:
    """Return how far the campaign is, as the part of the page that says it."""
    campaign = await (await services.annotation()).get_campaign(campaign_id)
    return fragment(request, pages.part(request, "dashboard/progress.html.jinja", **_frame(campaign, View())))


async def _first_view(services: Services, campaign: CampaignOut, view: View) -> dict[str, Part]:
    """Return the parts that are there at once; others, and all where a service is late, are left to the page."""
    try:
        async with asyncio.timeout(_LATEST_FIRST_VIEW_SECONDS):
            return await load_parts(services, campaign, PARTS, view, recent=True, wait_seconds=_FIRST_VIEW_SECONDS)
    except (TimeoutError, Error):
        return {}


async def _all_parts(services: Services, campaign: CampaignOut, view: View, *, recent: bool) -> dict[str, Part]:
    """Return the parts that are there before a page has to say that a service does not answer."""
    wait_seconds = services.timeout_seconds * _SHARE_OF_TIMEOUT
    try:
        return await load_parts(services, campaign, PARTS, view, recent=recent, wait_seconds=wait_seconds)
    except Error:
        return {}


def _frame(campaign: CampaignOut, view: View) -> dict[str, Any]:
    return {
        "campaign": campaign,
        "view": view,
        "ended": campaign.state in _ENDED,
        "is_live": _is_spot_the_bot(campaign) and campaign.state not in {*_ENDED, CampaignState.FAILED},
        "missing": max(0, campaign.annotations_needed - campaign.annotations),
        "has_results": campaign.annotations > 0 and _is_spot_the_bot(campaign),
        "other_protocol": not _is_spot_the_bot(campaign),
        "part_names": PARTS,
        "units": UNITS,
        "filters": FILTERS,
        "levels": LEVELS,
    }


def _is_spot_the_bot(campaign: CampaignOut) -> bool:
    """Whether results are computed of its answers."""
    return campaign.protocol in {"spot_the_bot", "spot_the_bot_labels"}
