"""Links into chats: a sealed link admits a person, a cookie remembers it; administrators make and revoke links."""

import json
import re
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final
from urllib.parse import quote
from uuid import UUID

from fastapi import APIRouter, Depends, Request
from fastapi.openapi.models import APIKey, APIKeyIn
from fastapi.security.base import SecurityBase
from starlette.responses import RedirectResponse, Response

from spotthebot.contracts.conversations.chat_entries import LinkRevocationIn, PersonsChatOut
from spotthebot.contracts.conversations.collections import CollectionOut
from spotthebot.kit.crypto.vault import Unreadable
from spotthebot.kit.web.core.routes import PageRoute
from spotthebot.web.chats.domain import ChatLink, ChatPerson, entry_in
from spotthebot.web.chats.errors import NotForChats
from spotthebot.web.chats.forms import DEFAULT_PEOPLE, MAX_PASTED, PARAMETERS, faults_of_links
from spotthebot.web.clients import Services
from spotthebot.web.deps import Admin, Pages, ServicesOfVisitor
from spotthebot.web.layout.pages import typed_in
from spotthebot.web.resources import resources_of
from spotthebot.web.sessions import count_request, visitors_of
from spotthebot.web.visitors.errors import EntryLinkNeeded

_LONGEST_LINK: Final = 4000
router = APIRouter(prefix="/chats/{collection_id}/links", route_class=PageRoute, include_in_schema=False)
_NAME: Final = re.compile("[0-9a-f]{64}")


class EnteredChat(SecurityBase):
    """A dependency that admits a person who opened a link into the collection `collection_id` of the path."""

    def __init__(self) -> None:
        self.model = APIKey(**{"in": APIKeyIn.cookie, "name": "chat"})
        self.scheme_name = "chat"

    async def __call__(self, request: Request) -> ChatPerson:
        person = person_of(request)
        if person is None or str(person.collection_id) != request.path_params["collection_id"]:
            raise EntryLinkNeeded
        count_request(request, f"{person.collection_id} {person.interactor}")
        return person


Person = Annotated[ChatPerson, Depends(EnteredChat())]


def person_of(request: Request) -> ChatPerson | None:
    """Return the person who chats in this browser; None without a valid cookie."""
    return visitors_of(request).chat_sessions.read_as(request, ChatPerson.from_session)


def remembering(request: Request, person: ChatPerson) -> Response:
    """Redirect to the person's chat page, and store the person in a cookie of the browser."""
    response = RedirectResponse(f"/chat/{person.collection_id}", status_code=303)
    visitors_of(request).chat_sessions.write(response, person.to_session())
    return response


def sealed(request: Request, links: Sequence[ChatLink]) -> list[str]:
    """Return the links as sealed texts, which people can neither read nor change."""
    vault = resources_of(request).vault
    return [vault.seal(json.dumps(each.to_content())).decode() for each in links]


def opened(request: Request, text: str) -> ChatLink | None:
    """Return the link in a sealed text; None if this installation did not seal the text."""
    if not text.isascii() or len(text) > _LONGEST_LINK:
        return None
    try:
        content = json.loads(resources_of(request).vault.open(text.encode()))
    except Unreadable:
        return None
    return ChatLink.from_content(content) if isinstance(content, dict) else None


async def chats_of(
    services: Services, collection_id: UUID, interactor: str, *, link: str | None = None
) -> list[PersonsChatOut]:
    """Return a person's chats, oldest first; raises an error of the service if `link` was revoked."""
    conversations = await services.conversations()
    return [each async for each in conversations.list_persons_chats(collection_id, interactor, link=link)]


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
