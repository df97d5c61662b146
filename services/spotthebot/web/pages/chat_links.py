"""`/chats/{collection_id}/links`: an administrator makes the links by which people come to chat."""

import re
import secrets
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import quote
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from spotthebot.contracts.conversations.chats import LinkRevocationIn
from spotthebot.contracts.conversations.collections import CollectionOut
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.domain.chats import ChatLink, entry_in
from spotthebot.web.domain.errors import NotForChats
from spotthebot.web.pages.chat_access import opened, sealed
from spotthebot.web.pages.deps import Admin, Pages, ServicesOfVisitor
from spotthebot.web.pages.forms import typed_in

router = APIRouter(prefix="/chats/{collection_id}/links", route_class=PageRoute, include_in_schema=False)
PARAMETERS: Final = {"PROLIFIC_PID": "{{%PROLIFIC_PID%}}", "participantId": "", "person": "ID"}
"""The query parameters by which panels name people, with what stands in their place in a link."""
_MAX_PEOPLE: Final = 500
_MAX_DAYS: Final = 366
_LONGEST: Final = 200
DEFAULT_PEOPLE: Final = 100
_MAX_LINK_PEOPLE: Final = 100_000
_NAME: Final = re.compile("[0-9a-f]{64}")


@router.get("")
async def show(
    request: Request, pages: Pages, _visitor: Admin, services: ServicesOfVisitor, collection_id: UUID
) -> Response:
    """Ask whom the links are for."""
    return await _page(request, pages, services, await _collection(services, collection_id), typed={"days": "14"})


@router.post("")
async def make(
    request: Request, pages: Pages, _visitor: Admin, services: ServicesOfVisitor, collection_id: UUID
) -> Response:
    """Make links, which nothing keeps: they hold, sealed, whom they let in and for how long."""
    collection = await _collection(services, collection_id)
    typed = await typed_in(request)
    people = list(dict.fromkeys(line.strip() for line in typed.get("people", "").split("\n") if line.strip()))
    faults = _faults(typed, people)
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
    base = request.app.state.settings.public_url.rstrip("/") or str(request.base_url).rstrip("/")
    made = [f"{base}/chat/{collection_id}/enter?entry={quote(text)}" for text in sealed(request, links)]
    if parameter != "people":
        made = [f"{each}&{parameter}={PARAMETERS[parameter]}" if PARAMETERS[parameter] else each for each in made]
    lines = [f"{person}\t{link}" for person, link in zip(people, made, strict=True)] if len(links) > 1 else made
    return await _page(request, pages, services, collection, typed=typed, links=lines, signing_key=links[0].key)


@router.post("/revoke")
async def revoke(
    request: Request, pages: Pages, _visitor: Admin, services: ServicesOfVisitor, collection_id: UUID
) -> Response:
    """Revoke links, which are pasted since nothing keeps them: nobody comes by them any more."""
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
        if len(lines) > _MAX_PEOPLE
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


def _faults(typed: dict[str, str], people: list[str]) -> dict[str, str]:
    faults = {}
    if typed.get("for") not in {*PARAMETERS, "people"}:
        faults["for"] = "for"
    elif typed["for"] == "people" and not people:
        faults["people"] = "no_people"
    elif len(people) > _MAX_PEOPLE:
        faults["people"] = "many_people"
    elif any(len(person) > _LONGEST or not person.isprintable() for person in people):
        faults["people"] = "long_people"
    days = typed.get("days", "").strip()
    if not (days.isascii() and days.isdecimal() and len(days) <= len(str(_MAX_DAYS)) and 1 <= int(days) <= _MAX_DAYS):
        faults["days"] = "days"
    most = typed.get("most", "").strip()
    if (
        typed.get("for") != "people"
        and most
        and not (most.isascii() and most.isdecimal() and len(most) <= 6 and 1 <= int(most) <= _MAX_LINK_PEOPLE)
    ):
        faults["most"] = "most"
    if len(typed.get("code", "")) > _LONGEST:
        faults["code"] = "code"
    return faults


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
        "chat/links.html.jinja",
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
