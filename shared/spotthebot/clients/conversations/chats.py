"""Operations on chats of people with bots, for frontends and analysts."""

from typing import Any, Unpack
from uuid import UUID

from spotthebot.clients.operations import Call, IdempotencyKey, Listing, Paging, operation
from spotthebot.clients.streams import Events
from spotthebot.contracts.conversations.chat_entries import (
    ChatConsentOut,
    ChatConsentWithdrawalIn,
    ChatIn,
    ChatLinksOut,
    ChatPersonOut,
    ChatTermsOut,
    ChatTokenOut,
    LinkRevocationIn,
    PersonsChatOut,
    RevokedLinkOut,
)
from spotthebot.contracts.conversations.chats import ChatOut, ChatRatingOut, ChatRatingsIn, ChatSummaryOut, ChatTurnIn
from spotthebot.contracts.conversations.progress import ChatBotsOut
from spotthebot.contracts.conversations.ratings import RatingsRevisionOut
from spotthebot.contracts.terms import PaymentFile, SubmittedTexts


class ChatOperations:
    """`/v1/chats`, and a collection's chats and ratings."""

    @operation
    def start_chat(self, chat: ChatIn, **key: Unpack[IdempotencyKey]) -> Call[ChatOut]:
        """Draw bots for a person and start their chat."""
        return Call(ChatOut, "POST", "/v1/chats", body=chat, **key)

    @operation
    def list_persons_chats(
        self, collection_id: UUID, interactor: str, *, link: str | None = None, **paging: Unpack[Paging]
    ) -> Listing[PersonsChatOut]:
        """List a person's chats in a collection, oldest first. A request with a revoked `link` is refused."""
        params = {"collection_id": collection_id, "interactor": interactor, "link": link}
        return Listing(PersonsChatOut, "/v1/chats", paging, params=params)

    @operation
    def get_chat_terms(self, collection_id: UUID, interactor: str) -> Call[ChatTermsOut]:
        """Return what a person learns before they begin a chat, and how many chats they may still begin."""
        params = {"interactor": interactor}
        return Call(ChatTermsOut, "GET", f"/v1/collections/{collection_id}/chat-terms", params=params)

    @operation
    def withdraw_chat_consent(self, collection_id: UUID, withdrawal: ChatConsentWithdrawalIn) -> Call[ChatConsentOut]:
        """Withdraw a person's consent: the chat that they have not finished is abandoned; rated chats stay."""
        return Call(ChatConsentOut, "POST", f"/v1/collections/{collection_id}/consents/withdraw", body=withdrawal)

    @operation
    def list_chat_people(self, collection_id: UUID, **paging: Unpack[Paging]) -> Listing[ChatPersonOut]:
        """List the people who chat in a collection: their consent, their work and their pay. For administrators."""
        return Listing(ChatPersonOut, f"/v1/collections/{collection_id}/chat-people", paging)

    @operation
    def download_chat_payments(
        self, collection_id: UUID, kind: PaymentFile, *, first_is_reward: bool = False
    ) -> Call[str]:
        """Return a CSV file by which people who chat are paid. For administrators."""
        path = f"/v1/collections/{collection_id}/chat-payments/file"
        return Call(str, "GET", path, params={"kind": kind.value, "first_is_reward": first_is_reward})

    @operation
    def erase_chat_person(
        self,
        collection_id: UUID,
        person_id: UUID,
        *,
        submitted_texts: SubmittedTexts = SubmittedTexts.ERASE,
        **key: Unpack[IdempotencyKey],
    ) -> Call[ChatPersonOut]:
        """Erase a person from a collection of chats; the ratings that this person gave stay. For administrators."""
        path = f"/v1/collections/{collection_id}/chat-people/{person_id}/erase"
        params = {"submitted_texts": submitted_texts.value}
        return Call(ChatPersonOut, "POST", path, params=params, **key)

    @operation
    def revoke_chat_link(
        self, collection_id: UUID, revocation: LinkRevocationIn, **key: Unpack[IdempotencyKey]
    ) -> Call[RevokedLinkOut]:
        """Revoke a link: nobody can start a chat by it. Started chats continue."""
        return Call(RevokedLinkOut, "POST", f"/v1/collections/{collection_id}/revoked-links", body=revocation, **key)

    @operation
    def list_chat_links(self, collection_id: UUID) -> Call[ChatLinksOut]:
        """Return the links by which people come to a collection's chats, and the number of people who came by each."""
        return Call(ChatLinksOut, "GET", f"/v1/collections/{collection_id}/chat-links")

    @operation
    def get_chat(self, chat_id: UUID) -> Call[ChatOut]:
        """Return a chat as the person sees it."""
        return Call(ChatOut, "GET", f"/v1/chats/{chat_id}")

    @operation
    def replace_chat_token(self, chat_id: UUID) -> Call[ChatTokenOut]:
        """Make a token with which the person's browser may use only this chat. The previous token becomes invalid."""
        return Call(ChatTokenOut, "PUT", f"/v1/chats/{chat_id}/token")

    @operation
    def say_in_chat(self, chat_id: UUID, turn: ChatTurnIn, **key: Unpack[IdempotencyKey]) -> Call[ChatOut]:
        """Store a person's utterance. The partner's reply arrives as an event of `watch_chat`, and in `get_chat`."""
        return Call(ChatOut, "POST", f"/v1/chats/{chat_id}/turns", body=turn, **key)

    @operation
    def advance_chat(self, chat_id: UUID, **key: Unpack[IdempotencyKey]) -> Call[ChatOut]:
        """Move on to the next partner, or to the ratings."""
        return Call(ChatOut, "POST", f"/v1/chats/{chat_id}/advance", **key)

    @operation
    def rate_chat(self, chat_id: UUID, ratings: ChatRatingsIn) -> Call[ChatOut]:
        """Rate the conversations of a chat that is over."""
        return Call(ChatOut, "PUT", f"/v1/chats/{chat_id}/ratings", body=ratings)

    @operation
    def watch_chat(
        self, chat_id: UUID, *, token: str | None = None, last_event_id: int | None = None
    ) -> Events[dict[str, Any]]:
        """Follow the events of a chat: `turn`, `typing`, `failed`, `next`, and at last `done`.

        A reader that was cut off passes the id of its last event as `last_event_id`, and misses no event. A client
        whose key is the chat's token needs no `token`. A `token` would be visible in the URL.
        """
        path = f"/v1/chats/{chat_id}/events"
        return Events(dict[str, Any], path, params={"token": token}, last_event_id=last_event_id)

    @operation
    def list_chats(self, collection_id: UUID, **paging: Unpack[Paging]) -> Listing[ChatSummaryOut]:
        """List a collection's chats with their bots, oldest first."""
        return Listing(ChatSummaryOut, f"/v1/collections/{collection_id}/chats", paging)

    @operation
    def list_chat_ratings(self, collection_id: UUID, **paging: Unpack[Paging]) -> Listing[ChatRatingOut]:
        """List people's ratings of their chats with the rated bots; ratings of the oldest chat come first."""
        return Listing(ChatRatingOut, f"/v1/collections/{collection_id}/ratings", paging)

    @operation
    def chat_ratings_revision(self, collection_id: UUID) -> Call[RatingsRevisionOut]:
        """Return a revision of a collection's ratings. Equal revisions mean equal ratings, by the same people."""
        return Call(RatingsRevisionOut, "GET", f"/v1/collections/{collection_id}/ratings/revision")

    @operation
    def list_chat_bots(self, collection_id: UUID) -> Call[ChatBotsOut]:
        """Return how many conversations people had with each bot, and how many of them they rated."""
        return Call(ChatBotsOut, "GET", f"/v1/collections/{collection_id}/chat-bots")
