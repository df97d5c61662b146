"""Operations on chats of people with bots: what a frontend needs, and what an analyst reads."""

from typing import Any, Unpack
from uuid import UUID

from spotthebot.clients.operations import Call, Listing, Paging, operation
from spotthebot.clients.streams import Events
from spotthebot.contracts.conversations.chats import (
    ChatIn,
    ChatLinksOut,
    ChatOut,
    ChatRatingOut,
    ChatRatingsIn,
    ChatSummaryOut,
    ChatTokenOut,
    ChatTurnIn,
    LinkRevocationIn,
    PersonsChatOut,
    RevokedLinkOut,
)


class ChatOperations:
    """`/v1/chats`, and a collection's chats and ratings."""

    @operation
    def start_chat(self, chat: ChatIn, *, idempotency_key: str | None = None) -> Call[ChatOut]:
        """Draw bots for a person and start their chat."""
        return Call(ChatOut, "POST", "/v1/chats", body=chat, idempotency_key=idempotency_key)

    @operation
    def list_persons_chats(
        self, collection_id: UUID, interactor: str, *, link: str | None = None, **paging: Unpack[Paging]
    ) -> Listing[PersonsChatOut]:
        """List a person's chats in a collection, oldest first; refused for a `link` that was revoked."""
        params = {"collection_id": collection_id, "interactor": interactor, "link": link}
        return Listing(PersonsChatOut, "/v1/chats", paging, params=params)

    @operation
    def revoke_chat_link(
        self, collection_id: UUID, revocation: LinkRevocationIn, *, idempotency_key: str | None = None
    ) -> Call[RevokedLinkOut]:
        """Let nobody come by a link any more; chats that have begun go on."""
        path = f"/v1/collections/{collection_id}/revoked-links"
        return Call(RevokedLinkOut, "POST", path, body=revocation, idempotency_key=idempotency_key)

    @operation
    def list_chat_links(self, collection_id: UUID) -> Call[ChatLinksOut]:
        """Return the links into a collection's chats with how many people came by each."""
        return Call(ChatLinksOut, "GET", f"/v1/collections/{collection_id}/chat-links")

    @operation
    def get_chat(self, chat_id: UUID) -> Call[ChatOut]:
        """Return a chat as the person sees it."""
        return Call(ChatOut, "GET", f"/v1/chats/{chat_id}")

    @operation
    def replace_chat_token(self, chat_id: UUID) -> Call[ChatTokenOut]:
        """Make a token with which the person's browser may use this chat, and no other; the one before ends."""
        return Call(ChatTokenOut, "PUT", f"/v1/chats/{chat_id}/token")

    @operation
    def say_in_chat(self, chat_id: UUID, turn: ChatTurnIn, *, idempotency_key: str | None = None) -> Call[ChatOut]:
        """Say something; the partner's reply comes as an event, and with `get_chat`."""
        return Call(ChatOut, "POST", f"/v1/chats/{chat_id}/turns", body=turn, idempotency_key=idempotency_key)

    @operation
    def advance_chat(self, chat_id: UUID, *, idempotency_key: str | None = None) -> Call[ChatOut]:
        """Go on to the next partner, or to the ratings."""
        return Call(ChatOut, "POST", f"/v1/chats/{chat_id}/advance", idempotency_key=idempotency_key)

    @operation
    def rate_chat(self, chat_id: UUID, ratings: ChatRatingsIn) -> Call[ChatOut]:
        """Rate the conversations of a chat that is over."""
        return Call(ChatOut, "PUT", f"/v1/chats/{chat_id}/ratings", body=ratings)

    @operation
    def watch_chat(
        self, chat_id: UUID, *, token: str | None = None, last_event_id: int | None = None
    ) -> Events[dict[str, Any]]:
        """Follow a chat: `turn`, `typing`, `failed`, `next`, and `done`, which is the last.

        A reader that was cut off gives the id of the last event it got as `last_event_id`, and misses nothing. A
        client that was made with a chat's token as its key needs no `token`, which would stand in the URL.
        """
        path = f"/v1/chats/{chat_id}/events"
        return Events(dict[str, Any], path, params={"token": token}, last_event_id=last_event_id)

    @operation
    def list_chats(self, collection_id: UUID, **paging: Unpack[Paging]) -> Listing[ChatSummaryOut]:
        """List a collection's chats with their bots, oldest first."""
        return Listing(ChatSummaryOut, f"/v1/collections/{collection_id}/chats", paging)

    @operation
    def list_chat_ratings(self, collection_id: UUID, **paging: Unpack[Paging]) -> Listing[ChatRatingOut]:
        """List how people rated their chats, with the bots, oldest chat first."""
        return Listing(ChatRatingOut, f"/v1/collections/{collection_id}/ratings", paging)
