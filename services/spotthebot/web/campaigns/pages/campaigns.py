"""The list of campaigns, and the page of one campaign with its progress, costs, links and actions."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from spotthebot.clients import AsyncAnnotation, Conflict, Invalid, NotFound, PeerRefused, PeerUnavailable
from spotthebot.contracts.analytics.analyses import LIKELY_WIN_RATE, ReachOut
from spotthebot.contracts.annotation.campaigns import CampaignOut, CampaignState
from spotthebot.contracts.annotation.exports import ExportedRows
from spotthebot.contracts.annotation.previews import CampaignPreviewOut
from spotthebot.contracts.conversations.collections import CollectionOut
from spotthebot.contracts.conversations.progress import met_bots
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.campaigns.domain import CAMPAIGN_ACTIONS, campaign_actions
from spotthebot.web.campaigns.forms import EntryLinkForm
from spotthebot.web.clients import Services
from spotthebot.web.confirmations.errors import NoSuchAction
from spotthebot.web.confirmations.pages import Question, ask
from spotthebot.web.deps import Admin, Pages, ServicesOfVisitor
from spotthebot.web.layout.forms import key_of
from spotthebot.web.layout.pages import typed_in
from spotthebot.web.rendering import Renderer
from spotthebot.web.resources import resources_of

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_CAMPAIGNS: Final = 25
_LINKS: Final = 50


@router.get("/admin/campaigns")
async def list_campaigns(
    request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Admin, cursor: str | None = None
) -> Response:
    """Show the list of campaigns, newest first."""
    listed = (await services.annotation()).list_campaigns(order="newest_first", cursor=cursor, page_size=_CAMPAIGNS)
    return pages.page(request, "campaigns/campaigns.html.jinja", page=await listed.page(), is_first=cursor is None)


@router.get("/admin/campaigns/{campaign_id}")
async def show_campaign(
    request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Admin, campaign_id: UUID
) -> Response:
    """Show a campaign: its progress, its costs and the actions that its state allows."""
    return await _campaign(request, pages, services, campaign_id)


@router.get("/admin/campaigns/{campaign_id}/links")
async def leave_link(_visitor: Admin, campaign_id: UUID) -> Response:
    """Redirect to the campaign's page. A reload of the page with a new entry link must not show the link again."""
    return RedirectResponse(f"/admin/campaigns/{campaign_id}", status_code=303)


@router.post("/admin/campaigns/{campaign_id}/links")
async def make_link(
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    _visitor: Admin,
    campaign_id: UUID,
    link: Annotated[EntryLinkForm, Form()],
) -> Response:
    """Make entry links and show them, several with their people. The links can't be shown again."""
    client = await services.annotation()
    made = [await client.create_entry_link(campaign_id, each) for each in link.links]
    base = (resources_of(request).settings.public_url or str(request.base_url)).rstrip("/")
    addresses = [f"{base}/annotate/{campaign_id}?{each.query}" for each in made]
    if len(made) > 1:
        addresses = [f"{each.annotator}\t{address}" for each, address in zip(made, addresses, strict=True)]
    shown = "\n".join(addresses)
    return await _campaign(request, pages, services, campaign_id, link=shown, signing_key=made[0].signing_key)


@router.get("/admin/campaigns/{campaign_id}/{action}")
async def ask_before(
    request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Admin, campaign_id: UUID, action: str
) -> Response:
    """Describe the effects of an action on the campaign, and ask for a confirmation."""
    campaign = await (await services.annotation()).get_campaign(campaign_id)
    if action not in CAMPAIGN_ACTIONS:
        raise NoSuchAction
    back = f"/admin/campaigns/{campaign_id}"
    return ask(request, pages, Question(of="campaign", action=action, name=campaign.name, back=back))


@router.post("/admin/campaigns/{campaign_id}/{action}")
async def do(
    request: Request, services: ServicesOfVisitor, _visitor: Admin, campaign_id: UUID, action: str
) -> Response:
    """Carry out a confirmed action on the campaign."""
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
        "campaigns/campaign.html.jinja",
        campaign=campaign,
        preview=preview,
        reach=reach,
        likely_win_rate=LIKELY_WIN_RATE,
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
        link_hours=EntryLinkForm.model_fields["expires_in_hours"].default,
    )


async def _preview(client: AsyncAnnotation, campaign: CampaignOut) -> CampaignPreviewOut | None:
    """Return the preview of the campaign's work and costs.

    None if the campaign has no packages from which to compute it.
    """
    if campaign.mode == "import" or campaign.state in {CampaignState.BUILDING, CampaignState.FAILED}:
        return None
    try:
        return await client.preview_campaign(campaign.id)
    except (Conflict, Invalid):
        return None


async def _reach(services: Services, campaign: CampaignOut) -> ReachOut | None:
    """Return which differences between two of its bots a draft can show.

    None if two bots of the draft never met, or if a request to a service failed.
    """
    if campaign.state is not CampaignState.DRAFT or not campaign.segments:
        return None
    conversations, analytics = await services.conversations(), await services.analytics()
    try:
        met = met_bots([pair for each in campaign.collections async for pair in conversations.list_pairs(each)])
        if not met:
            return None
        return await analytics.get_reach(
            pairs=len(met),
            conversations=max(met.values()),
            annotations_per_conversation=len(campaign.segments)
            * campaign.annotations_per_segment
            * (2 if campaign.units_twice else 1),
            annotators=max(2, campaign.assignments_needed),
        )
    except (PeerRefused, PeerUnavailable):  # the page has more to show
        return None


async def _collection(services: Services, collection_id: UUID) -> CollectionOut | None:
    try:
        return await (await services.conversations()).get_collection(collection_id)
    except NotFound:
        return None


@router.get("/admin/campaigns/{campaign_id}/links/{link_id}/revoke")
async def ask_before_revoking(
    request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Admin, campaign_id: UUID, link_id: UUID
) -> Response:
    """Describe the effects of revoking an entry link, and ask for a confirmation."""
    campaign = await (await services.annotation()).get_campaign(campaign_id)
    back = f"/admin/campaigns/{campaign_id}"
    name = f"{campaign.name} · {link_id.hex[-6:]}"
    return ask(request, pages, Question(of="link", action="revoke", name=name, back=back))


@router.post("/admin/campaigns/{campaign_id}/links/{link_id}/revoke")
async def revoke_link(services: ServicesOfVisitor, _visitor: Admin, campaign_id: UUID, link_id: UUID) -> Response:
    """Revoke an entry link."""
    await (await services.annotation()).revoke_entry_link(campaign_id, link_id)
    return RedirectResponse(f"/admin/campaigns/{campaign_id}", status_code=303)
