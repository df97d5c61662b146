"""`/chats/{collection_id}/links`: an administrator makes and revokes links into chats."""

import re
import secrets
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import quote
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from spotthebot.contracts.conversations.chat_entries import LinkRevocationIn
from spotthebot.contracts.conversations.collections import CollectionOut
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.chats.domain import ChatLink, entry_in
from spotthebot.web.chats.errors import NotForChats
from spotthebot.web.chats.forms import DEFAULT_PEOPLE, MAX_PASTED, PARAMETERS, faults_of_links
from spotthebot.web.chats.pages.access import opened, sealed
from spotthebot.web.deps import Admin, Pages, ServicesOfVisitor
from spotthebot.web.layout.pages import typed_in
from spotthebot.web.resources import resources_of

router = APIRouter(prefix="/chats/{collection_id}/links", route_class=PageRoute, include_in_schema=False)
_NAME: Final = re.compile("[0-9a-f]{64}")


@router.get("")
async def show(
    request: Request, pages: Pages, _visitor: Admin, services: ServicesOfVisitor, collection_id: UUID
) -> Response:
    """Show the form that makes links."""
    return await _page(request, pages, services, await _collection(services, collection_id), typed={"days": "14"})


@router.post("")
async def make(
    request: Request, pages: Pages, _visitor: Admin, services: ServicesOfVisitor, collection_id: UUID
) -> Response:
    """Make links and show them. The links are not stored: their sealed text contains the person and the end."""
    collection = await _collection(services, collection_id)
    typed = await typed_in(request)
    people = list(dict.fromkeys(line.strip() for line in typed.get("people", "").split("\n") if line.strip()))
    faults = faults_of_links(typed, people)
    if faults:
        return await _page(request, pages, services, collection, typed=typed, faults=faults)
    until = datetime.now(UTC) + timedelta(days=int(typed["days"]))
    code, parameter = typed.get("code", "").strip(), typed["for"]
    links = (
        [ChatLink(collection_id, until, interactor=person, code=code) for person in people]
        if parameter == "people"
        else [
            ChatLink(
                collection_id,
                until,
                parameter=parameter,
                code=code,
                most=int(typed.get("most") or DEFAULT_PEOPLE),
                key=secrets.token_hex(32) if typed.get("signed") else "",
            )
        ]
    )
    base = resources_of(request).settings.public_url.rstrip("/") or str(request.base_url).rstrip("/")
    made = [f"{base}/chat/{collection_id}/enter?entry={quote(text)}" for text in sealed(request, links)]
    if parameter != "people":
        made = [f"{each}&{parameter}={PARAMETERS[parameter]}" if PARAMETERS[parameter] else each for each in made]
    lines = [f"{person}\t{link}" for person, link in zip(people, made, strict=True)] if len(links) > 1 else made
    return await _page(request, pages, services, collection, typed=typed, links=lines, signing_key=links[0].key)


@router.post("/revoke")
async def revoke(
    request: Request, pages: Pages, _visitor: Admin, services: ServicesOfVisitor, collection_id: UUID
) -> Response:
    """Revoke pasted links. Links are not stored, so the administrator pastes each link or its name."""
    collection = await _collection(services, collection_id)
    typed = await typed_in(request)
    lines = [line.strip() for line in typed.get("revoked", "").split("\n") if line.strip()]
    found = [None if _NAME.fullmatch(line) else opened(request, entry_in(line)) for line in lines]
    named = {line for line in lines if _NAME.fullmatch(line)}
    names = named | {each.name for each in found if each is not None and each.collection_id == collection_id}
    fault = (
        "no_links"
        if not lines
        else "many_links"
        if len(lines) > MAX_PASTED
        else "not_links"
        if any(
            line not in named and (each is None or each.collection_id != collection_id)
            for line, each in zip(lines, found, strict=True)
        )
        else ""
    )
    if fault:
        return await _page(
            request, pages, services, collection, typed={"days": "14"} | typed, faults={"revoked": fault}
        )
    conversations = await services.conversations()
    for name in sorted(names):
        await conversations.revoke_chat_link(collection_id, LinkRevocationIn(link=name))
    return await _page(request, pages, services, collection, typed={"days": "14"}, revoked=len(names))


async def _collection(services: ServicesOfVisitor, collection_id: UUID) -> CollectionOut:
    collection = await (await services.conversations()).get_collection(collection_id)
    if collection.mode != "human_bot":
        raise NotForChats(name=collection.name)
    return collection


async def _page(  # noqa: PLR0913 - what the page shows
    request: Request,
    pages: Pages,
    services: ServicesOfVisitor,
    collection: CollectionOut,
    *,
    typed: dict[str, str],
    faults: dict[str, str] | None = None,
    links: list[str] | None = None,
    revoked: int = 0,
    signing_key: str = "",
) -> Response:
    used = await (await services.conversations()).list_chat_links(collection.id)
    return pages.page(
        request,
        "chats/links.html.jinja",
        status=422 if faults else 200,
        collection=collection,
        typed=typed,
        faults=faults or {},
        links=links or [],
        revoked=revoked,
        signing_key=signing_key,
        used=used.links,
        default_people=DEFAULT_PEOPLE,
        parameters=tuple(PARAMETERS),
    )
