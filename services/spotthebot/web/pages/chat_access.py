"""Who may open a chat: people who came by a sealed link, which their browser remembers in a cookie."""

import json
from collections.abc import Sequence
from typing import Annotated, Final

from fastapi import Depends, Request
from fastapi.openapi.models import APIKey, APIKeyIn
from fastapi.security.base import SecurityBase
from starlette.responses import RedirectResponse, Response

from spotthebot.kit.crypto.vault import Unreadable, Vault
from spotthebot.kit.web.sessions.sealed_cookie import SealedCookie
from spotthebot.web.domain.chats import ChatLink, ChatPerson
from spotthebot.web.domain.errors import EntryLinkNeeded
from spotthebot.web.sessions import count_request

_LONGEST_LINK: Final = 4000


class EnteredChat(SecurityBase):
    """A dependency that lets in the person who came into the collection of the path (`collection_id`) by a link."""

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
    """Return who chats in this browser, if anybody does."""
    return _cookie(request).read_as(request, ChatPerson.from_session)


def remembering(request: Request, person: ChatPerson) -> Response:
    """Lead to the person's page, and have the browser remember them."""
    response = RedirectResponse(f"/chat/{person.collection_id}", status_code=303)
    _cookie(request).write(response, person.to_session())
    return response


def sealed(request: Request, links: Sequence[ChatLink]) -> list[str]:
    """Return links as texts that nobody can read or change."""
    vault = _vault(request)
    return [vault.seal(json.dumps(each.to_content())).decode() for each in links]


def opened(request: Request, text: str) -> ChatLink | None:
    """Return what a link holds; None where it was made up, or belongs to another installation."""
    if not text.isascii() or len(text) > _LONGEST_LINK:
        return None
    try:
        content = json.loads(_vault(request).open(text.encode()))
    except Unreadable:
        return None
    return ChatLink.from_content(content) if isinstance(content, dict) else None


def _cookie(request: Request) -> SealedCookie:
    cookie: SealedCookie = request.app.state.chat_sessions
    return cookie


def _vault(request: Request) -> Vault:
    vault: Vault = request.app.state.vault
    return vault
