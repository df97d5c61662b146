"""Campaigns: all of them, and one with its progress, its costs, its links and what can be done with it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from spotthebot.clients import AsyncAnnotation, Conflict, Invalid, NotFound, PeerRefused, PeerUnavailable
from spotthebot.contracts.analytics.analyses import ReachOut
from spotthebot.contracts.annotation.campaigns import CampaignOut, CampaignState
from spotthebot.contracts.annotation.entries import EntryLinkIn
from spotthebot.contracts.annotation.exports import ExportedRows
from spotthebot.contracts.annotation.previews import CampaignPreviewOut
from spotthebot.contracts.conversations.collections import CollectionOut
from spotthebot.contracts.conversations.progress import met_bots
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.clients import Services
from spotthebot.web.domain.admin_actions import CAMPAIGN_ACTIONS, campaign_actions
from spotthebot.web.domain.reading_errors import NoSuchAction
from spotthebot.web.pages.admin.confirmation import Question, ask
from spotthebot.web.pages.deps import Admin, Pages, ServicesOfVisitor
from spotthebot.web.pages.forms import key_of, typed_in
from spotthebot.web.rendering import Renderer

router = APIRouter(prefix="/admin/campaigns", route_class=PageRoute, include_in_schema=False)
_CAMPAIGNS: Final = 25
_COLLECTIONS: Final = 100
_LINKS: Final = 50
_PROTOCOLS: Final = 100
_TRAININGS: Final = 1000


@router.get("")
async def list_campaigns(
    request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Admin, cursor: str | None = None
) -> Response:
    """Show campaigns, the newest first."""
    listed = (await services.annotation()).list_campaigns(order="newest_first", cursor=cursor, page_size=_CAMPAIGNS)
    return pages.page(request, "admin/campaigns.html.jinja", page=await listed.page(), is_first=cursor is None)


@router.get("/{campaign_id}")
async def show_campaign(
    request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Admin, campaign_id: UUID
) -> Response:
    """Show a campaign: how far it is, what it takes, what can be done."""
    return await _campaign(request, pages, services, campaign_id)


@router.get("/{campaign_id}/links")
async def leave_link(_visitor: Admin, campaign_id: UUID) -> Response:
    """Lead back to the campaign: a link that was made is not shown again."""
    return RedirectResponse(f"/admin/campaigns/{campaign_id}", status_code=303)


@router.post("/{campaign_id}/links")
async def make_link(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Admin,
    campaign_id: UUID,
    hours: Annotated[int, Form(ge=1, le=24 * 366)] = 168,
    most: Annotated[str, Form(pattern="^[0-9]{0,6}$")] = "",
    annotator: Annotated[str, Form(max_length=200)] = "",
    signed_ids: Annotated[bool, Form()] = False,  # noqa: FBT002 - a field of a form
) -> Response:
    """Make an entry link and show it; nobody can read it again."""
    link = EntryLinkIn(
        expires_in_hours=hours,
        max_annotators=max(1, int(most)) if most else None,
        annotator=annotator.strip() or None,
        signed_ids=signed_ids and not annotator.strip(),
    )
    made = await (await services.annotation()).create_entry_link(campaign_id, link)
    base = request.app.state.settings.public_url or str(request.base_url)
    address = f"{base.rstrip('/')}/annotate/{campaign_id}?{made.query}"
    return await _campaign(request, pages, services, campaign_id, link=address, signing_key=made.signing_key)


@router.get("/{campaign_id}/{action}")
async def ask_before(
    request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Admin, campaign_id: UUID, action: str
) -> Response:
    """Say what would be done, and ask."""
    campaign = await (await services.annotation()).get_campaign(campaign_id)
    if action not in CAMPAIGN_ACTIONS:
        raise NoSuchAction
    back = f"/admin/campaigns/{campaign_id}"
    return ask(request, pages, Question(of="campaign", action=action, name=campaign.name, back=back))


@router.post("/{campaign_id}/{action}")
async def do(
    request: Request, services: ServicesOfVisitor, _visitor: Admin, campaign_id: UUID, action: str
) -> Response:
    """Do it."""
    client = await services.annotation()
    if action not in CAMPAIGN_ACTIONS:
        raise NoSuchAction
    await _ACTIONS[action](client, campaign_id, key_of(await typed_in(request)))
    gone = "" if action == "delete" else f"/{campaign_id}"
    return RedirectResponse(f"/admin/campaigns{gone}", status_code=303)


_ACTIONS: Final[Mapping[str, Callable[[AsyncAnnotation, UUID, str], Awaitable[object]]]] = {
    "open": lambda client, campaign_id, key: client.open_campaign(campaign_id, idempotency_key=key),
    "pause": lambda client, campaign_id, key: client.pause_campaign(campaign_id, idempotency_key=key),
    "close": lambda client, campaign_id, key: client.close_campaign(campaign_id, idempotency_key=key),
    "delete": lambda client, campaign_id, _key: client.delete_campaign(campaign_id),
    "release": lambda client, campaign_id, key: client.release_results(campaign_id, idempotency_key=key),
    "publish": lambda client, campaign_id, key: client.publish_results(campaign_id, idempotency_key=key),
    "withdraw": lambda client, campaign_id, key: client.withdraw_results(campaign_id, idempotency_key=key),
}


async def _campaign(
    request: Request,
    pages: Renderer,
    services: Services,
    campaign_id: UUID,
    *,
    link: str | None = None,
    signing_key: str | None = None,
) -> Response:
    client = await services.annotation()
    campaign = await client.get_campaign(campaign_id)
    preview, reach, links, collections = await asyncio.gather(
        _preview(client, campaign),
        _reach(services, campaign),
        client.list_entry_links(campaign_id, order="newest_first", page_size=_LINKS).page(),
        asyncio.gather(*(_collection(services, each) for each in campaign.collections[:10])),
    )
    return pages.page(
        request,
        "admin/campaign.html.jinja",
        campaign=campaign,
        preview=preview,
        reach=reach,
        collections=collections,
        actions=campaign_actions(campaign),
        link=link,
        signing_key=signing_key,
        links=links.items,
        now=datetime.now(UTC),
        can_edit=campaign.state is not CampaignState.BUILDING,
        can_preview=campaign.packages > 0 and campaign.mode != "import",
        takes_links=campaign.state in {CampaignState.DRAFT, CampaignState.OPEN, CampaignState.PAUSED},
        rows=[*ExportedRows],
    )


async def _preview(client: AsyncAnnotation, campaign: CampaignOut) -> CampaignPreviewOut | None:
    """Return what the campaign will take; None where no packages say it."""
    if campaign.mode == "import" or campaign.state in {CampaignState.BUILDING, CampaignState.FAILED}:
        return None
    try:
        return await client.preview_campaign(campaign.id)
    except (Conflict, Invalid):
        return None


async def _reach(services: Services, campaign: CampaignOut) -> ReachOut | None:
    """Return what labels of a draft's segments can show of its bots; None where no two meet, or nobody says it."""
    if campaign.state is not CampaignState.DRAFT or not campaign.segments:
        return None
    conversations, analytics = await services.conversations(), await services.analytics()
    try:
        met = met_bots([pair for each in campaign.collections async for pair in conversations.list_pairs(each)])
        if not met:
            return None
        return await analytics.get_reach(
            pairs=len(met),
            conversations=min(met.values()),
            annotations_per_conversation=len(campaign.segments) * campaign.annotations_per_segment,
        )
    except (PeerRefused, PeerUnavailable):  # the page has more to show
        return None


async def _collection(services: Services, collection_id: UUID) -> CollectionOut | None:
    try:
        return await (await services.conversations()).get_collection(collection_id)
    except NotFound:
        return None
