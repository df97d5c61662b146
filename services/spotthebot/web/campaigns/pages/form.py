"""The form of a new or changed campaign, and the preview of its first package."""

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from spotthebot.clients import Conflict, Invalid, NotFound, PeerRefused
from spotthebot.contracts.annotation.campaign_changes import CampaignChangesIn, changes_between, document_of
from spotthebot.contracts.annotation.campaigns import CampaignIn, CampaignOut
from spotthebot.contracts.annotation.protocols import GAME
from spotthebot.contracts.conversations.collections import CollectionOut, CollectionState
from spotthebot.kit.ids import new_id
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.campaigns.forms import FIELDS, PAIRS, PANELS, STOPS, CampaignForm, fixed_fields
from spotthebot.web.clients import Services
from spotthebot.web.deps import Admin, Pages, ServicesOfVisitor
from spotthebot.web.layout.forms import key_of
from spotthebot.web.packages.domain import items_of
from spotthebot.web.protocols.pages import script_texts, worded_for
from spotthebot.web.rendering import Renderer

router = APIRouter(prefix="/admin/campaigns", route_class=PageRoute, include_in_schema=False)
_COLLECTIONS: Final = 100
_PROTOCOLS: Final = 100
_TRAININGS: Final = 1000
_KEYS: Final = re.compile(r"`?\b(" + "|".join(name for name in FIELDS if "_" in name) + r")\b`?")
"""Finds the names of fields in the service's sentences; the page replaces them by the fields' labels."""


@router.get("/new")
async def show_form(request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Admin) -> Response:
    """Show the empty form of a campaign."""
    return await _form(request, pages, services, CampaignForm())


@router.post("/new")
async def create_campaign(request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Admin) -> Response:
    """Create a draft of a campaign. The draft's page shows its costs before an annotator can begin."""
    given, form = await _sent(request)
    domains = {str(each.id): each.domain for each in await _complete_collections(services)}
    read = form.read(domains)
    if isinstance(read, CampaignIn):
        try:
            made = await (await services.annotation()).create_campaign(read, idempotency_key=key_of(given))
        except (Invalid, Conflict) as refused:
            read = form.with_faults(_faults(refused))
        else:
            return RedirectResponse(f"/admin/campaigns/{made.id}", status_code=303)
    return await _form(request, pages, services, read, status=422)


@router.get("/{campaign_id}/edit")
async def show_edit(
    request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Admin, campaign_id: UUID
) -> Response:
    """Show the form filled in with the values of a campaign."""
    campaign = await (await services.annotation()).get_campaign(campaign_id)
    return await _form(request, pages, services, CampaignForm.of(campaign), campaign=campaign)


@router.post("/{campaign_id}/edit")
async def edit_campaign(
    request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Admin, campaign_id: UUID
) -> Response:
    """Save the fields that the administrator changed. Changes by another administrator in other fields are kept."""
    client = await services.annotation()
    given, typed = await _sent(request)
    campaign = await client.get_campaign(campaign_id)
    before = _shown(given.get("before", "")) or CampaignForm.of(campaign)
    form = CampaignForm.changed(before, typed, fixed_fields(campaign.state))
    domains = {str(each.id): each.domain for each in await _complete_collections(services)}
    domains |= {str(each): campaign.domain for each in campaign.collections}
    now = document_of(campaign)
    was, read = before.read(domains, like=now), form.read(domains, like=now)
    if isinstance(read, CampaignIn):
        shown = document_of(was) if isinstance(was, CampaignIn) else now
        try:
            changes = CampaignChangesIn(changes_between(shown, document_of(read)))
            await client.change_campaign(campaign_id, changes)
        except (Invalid, Conflict) as refused:
            read = form.with_faults(_faults(refused))
        else:
            return RedirectResponse(f"/admin/campaigns/{campaign_id}", status_code=303)
    return await _form(request, pages, services, read, campaign=campaign, before=before, status=422)


@router.get("/{campaign_id}/preview")
async def preview_campaign(
    request: Request, pages: Pages, services: ServicesOfVisitor, _visitor: Admin, campaign_id: UUID
) -> Response:
    """Show the first package as annotators will see it. Answers in the preview are neither sent nor stored."""
    client = await services.annotation()
    campaign, package = await asyncio.gather(client.get_campaign(campaign_id), client.preview_package(campaign_id))
    protocol = worded_for(request, pages, package.protocol)
    data: dict[str, Any] = {
        "base": f"/admin/campaigns/{campaign_id}/preview",
        "assignment": {"id": "preview", "protocol": protocol.model_dump(mode="json"), "items": items_of(package)},
        "texts": script_texts(request, pages),
        "is_preview": True,
    }
    return pages.page(
        request,
        "packages/preview.html.jinja",
        campaign=campaign,
        assignment=package.model_copy(update={"protocol": protocol}),
        is_game=campaign.protocol == GAME,
        data=data,
    )


async def _sent(request: Request) -> tuple[Mapping[str, str], CampaignForm]:
    async with request.form() as sent:
        given = {name: value for name, value in sent.items() if isinstance(value, str)}
        chosen = [value for value in sent.getlist("collections") if isinstance(value, str)]
    return given, CampaignForm.sent(given, list(dict.fromkeys(chosen)))


def _shown(before: str) -> CampaignForm | None:
    """Return the form as it was before the administrator's changes. None if the browser sent no valid copy of it."""
    try:
        found = json.loads(before)
        return CampaignForm.sent(found["values"], found["collections"])
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


async def _complete_collections(services: Services) -> list[CollectionOut]:
    """Return the newest collections over which a campaign can be made."""
    client = await services.conversations()
    page = await client.list_collections(order="newest_first", page_size=_COLLECTIONS).page()
    return [each for each in page.items if each.state is CollectionState.COMPLETE or each.mode == "import"]


async def _form(
    request: Request,
    pages: Renderer,
    services: Services,
    form: CampaignForm,
    *,
    campaign: CampaignOut | None = None,
    before: CampaignForm | None = None,
    status: int = 200,
) -> Response:
    client = await services.annotation()
    collections, protocols, trainings = await asyncio.gather(
        _complete_collections(services),
        client.list_protocols(page_size=_PROTOCOLS).page(),
        client.list_trainings(page_size=_TRAININGS).page(),
    )
    known = {each.id for each in collections}
    own = campaign.collections if campaign else ()
    collections += [
        each for each in await asyncio.gather(*(_find(services, each) for each in own if each not in known)) if each
    ]
    shown = before or form
    t = pages.texts_for(request)
    return pages.page(
        request,
        "campaigns/form.html.jinja",
        status=status,
        form=form,
        worded=lambda said: _KEYS.sub(lambda found: t(f"admin.form.{found[1]}.label"), said),
        campaign=campaign,
        before=json.dumps({"values": dict(shown.values), "collections": [*shown.collections]}),
        fixed=fixed_fields(campaign.state) if campaign else frozenset(),
        chosen=set(form.collections),
        kept={str(each) for each in own} if campaign and "protocol" in fixed_fields(campaign.state) else set(),
        collections=sorted(collections, key=lambda each: str(each.id) not in form.collections),
        protocols=protocols.items,
        trainings=trainings.items,
        panels=PANELS,
        pairs=PAIRS,
        stops=STOPS,
        once=str(new_id()),
    )


async def _find(services: Services, collection_id: UUID) -> CollectionOut | None:
    try:
        return await (await services.conversations()).get_collection(collection_id)
    except NotFound:
        return None


def _faults(refused: PeerRefused) -> dict[str, str]:
    """Return a service's faults by JSON pointer of the field.

    If the service names no field, return its message under the key `""`, which stands for the whole form.
    """
    problem = refused.problem
    named = {each.pointer: each.detail for each in problem.errors if each.pointer}
    return named or {"": problem.detail}
