"""How people come to chats: what they did in a collection before, and links by which nobody may come any more."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from spotthebot.contracts.conversations.chats import (
    ChatLinkOut,
    ChatLinksOut,
    LinkRevocationIn,
    PersonsChatOut,
    RevokedLinkOut,
)
from spotthebot.contracts.wire import ExternalId
from spotthebot.conversations.chats.api.access import Chatting
from spotthebot.conversations.chats.store import chats as chats_store
from spotthebot.conversations.chats.store import links as links_store
from spotthebot.conversations.chats.use_cases.start import require_link
from spotthebot.conversations.deps import Admin, AdminReader
from spotthebot.kit.web.core.pagination import Page, Paging, page_of
from spotthebot.kit.web.database.idempotency import IdempotentRoute
from spotthebot.kit.web.database.sessions import Reading, Writing

router = APIRouter(prefix="/v1", tags=["chats"], route_class=IdempotentRoute)
_MAX_LINKS = 1000


@router.get("/chats", operation_id="list_persons_chats")
async def list_persons_chats(
    session: Reading,
    _caller: Chatting,
    paging: Paging,
    collection_id: Annotated[UUID, Query(description="The collection in which the person chats.")],
    interactor: Annotated[ExternalId, Query(description="What the frontend calls the person.")],
    link: Annotated[
        ExternalId | None, Query(description="The link by which the person comes; refused if it was revoked.")
    ] = None,
) -> Page[PersonsChatOut]:
    """List a person's chats in a collection, oldest first: ask when they come, so that none begins unnoticed."""
    await chats_store.get_study(session, collection_id)
    await require_link(session, collection_id, link)
    theirs = await chats_store.list_chats_of(session, collection_id, interactor)
    rows = [chat for chat in theirs if paging.after is None or chat.id > paging.after]
    return page_of(
        rows,
        paging,
        key=lambda chat: chat.id,
        to_out=lambda chat: PersonsChatOut(id=chat.id, state=chat.state, created_at=chat.created_at),
    )


@router.post("/collections/{collection_id}/revoked-links", status_code=201, operation_id="revoke_chat_link")
async def revoke_chat_link(
    session: Writing, _caller: Admin, collection_id: UUID, request: LinkRevocationIn
) -> RevokedLinkOut:
    """Let nobody come by a link any more; chats that have begun go on. Revoking again changes nothing."""
    await chats_store.get_study(session, collection_id)
    revoked_at = await links_store.revoke_link(session, collection_id, request.link)
    return RevokedLinkOut(link=request.link, revoked_at=revoked_at)


@router.get("/collections/{collection_id}/chat-links", operation_id="list_chat_links")
async def list_chat_links(session: Reading, _caller: AdminReader, collection_id: UUID) -> ChatLinksOut:
    """Return the links by which people came to chat, or that were revoked, with how many people came by each."""
    await chats_store.get_study(session, collection_id)
    found = await links_store.list_links(session, collection_id, limit=_MAX_LINKS)
    return ChatLinksOut(
        links=tuple(
            ChatLinkOut(link=each.link, people=each.people, chats=each.chats, revoked_at=each.revoked_at)
            for each in found
        )
    )
