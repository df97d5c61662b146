"""`/campaigns`: the campaigns that there are, and the dashboard of one: its frame, which its parts fill."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from spotthebot.contracts.annotation import CampaignOut, CampaignState
from spotthebot.kit.errors import Error
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.kit.web.pages.headers import policy_with
from spotthebot.web.clients import Services
from spotthebot.web.pages.deps import Pages, Reader, ServicesOfVisitor
from spotthebot.web.pages.fragments import fragment
from spotthebot.web.pages.parts import PARTS, Part, load_part, show_part
from spotthebot.web.pages.views import FILTERS, LEVELS, UNITS, View, ViewOfResults

router = APIRouter(prefix="/campaigns", route_class=PageRoute, include_in_schema=False)
_ON_A_PAGE: Final = 25
_ENDED: Final = frozenset({CampaignState.COMPLETE, CampaignState.CLOSED})
_FRAMES: Final = policy_with(frame_src="'self'")
"""Of pages that show a chart to explore in a frame."""
_IN_FIRST_VIEW: Final = ("claim", "ranking")
_FIRST_VIEW_SECONDS: Final = 0.4
"""Results that are kept are there in some hundredths of a second; a first computation takes seconds."""


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
    """Show a campaign's results: what is seen first, if it is kept, and a frame that a script fills with the rest.

    With `whole` all parts stand in the page; for `paper` they do, too, and figures are light and all loaded.
    """
    campaign = await (await services.annotation()).get_campaign(campaign_id)
    content = _frame(campaign, view)
    parts = {}
    if content["has_results"]:
        names, seconds = (PARTS, None) if whole or paper else (_IN_FIRST_VIEW, _FIRST_VIEW_SECONDS)
        loaded = await _load_parts(services, campaign, view, names, seconds, recent=not paper)
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


async def _load_parts(
    services: Services, campaign: CampaignOut, view: View, names: Sequence[str], seconds: float | None, *, recent: bool
) -> dict[str, Part]:
    """Return the parts that are there within so many seconds; others, and those that fail, are left to the page."""
    loading = {asyncio.create_task(load_part(services, campaign, name, view, recent=recent)): name for name in names}
    done, late = await asyncio.wait(loading, timeout=seconds)
    for task in late:
        task.cancel()
    await asyncio.gather(*loading, return_exceptions=True)
    return {loading[task]: task.result() for task in done if not isinstance(task.exception(), Error)}


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
