"""The check of who may open a chat: people who opened a sealed link. A cookie of their browser remembers the link."""

import json
from collections.abc import Sequence
from typing import Annotated, Final
from uuid import UUID

from fastapi import Depends, Request
from fastapi.openapi.models import APIKey, APIKeyIn
from fastapi.security.base import SecurityBase
from starlette.responses import RedirectResponse, Response

from spotthebot.contracts.conversations.chat_entries import PersonsChatOut
from spotthebot.kit.crypto.vault import Unreadable
from spotthebot.web.chats.domain import ChatLink, ChatPerson
from spotthebot.web.clients import Services
from spotthebot.web.resources import resources_of
from spotthebot.web.sessions import count_request, visitors_of
from spotthebot.web.visitors.errors import EntryLinkNeeded

_LONGEST_LINK: Final = 4000


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
