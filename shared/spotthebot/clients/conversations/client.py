"""The client of `conversations`."""

from collections.abc import Sequence
from typing import Unpack
from uuid import UUID

from spotthebot.clients.client import AsyncClient, Client, ServiceOperations
from spotthebot.clients.conversations.chats import ChatOperations
from spotthebot.clients.conversations.corpora import CorpusOperations
from spotthebot.clients.conversations.transcripts import TranscriptOperations
from spotthebot.clients.operations import Call, IdempotencyKey, Listing, ListOrder, Paging, operation
from spotthebot.clients.streams import Events
from spotthebot.clients.subscriptions import SubscriptionOperations
from spotthebot.contracts.conversations.collections import (
    CollectionChangesIn,
    CollectionIn,
    CollectionOut,
    CollectionPlanOut,
    EstimateOut,
    PlannedIn,
    StartedCollectionOut,
)
from spotthebot.contracts.conversations.progress import FailureOut, PairOut
from spotthebot.contracts.conversations.quality import (
    FlagKind,
    QualityCheckIn,
    QualityCheckOut,
    QualityFlagsOut,
    QualityOut,
)


class ConversationsOperations(
    TranscriptOperations,
    CorpusOperations,
    ChatOperations,
    SubscriptionOperations,
    ServiceOperations,
):
    """The operations of `conversations`."""

    peer = "conversations"

    @operation
    def get_quality(self, collection_id: UUID) -> Call[QualityOut]:
        """Return the summary of a collection's quality, and the progress of its check."""
        return Call(QualityOut, "GET", f"/v1/collections/{collection_id}/quality")

    @operation
    def list_quality_flags(
        self, collection_id: UUID, *, only: FlagKind | None = None, **paging: Unpack[Paging]
    ) -> Listing[QualityFlagsOut]:
        """List the flags of a collection's conversations, in the order of its plan."""
        return Listing(QualityFlagsOut, f"/v1/collections/{collection_id}/quality-flags", paging, params={"only": only})

    @operation
    def flag_conversations(
        self, collection_id: UUID, request: QualityCheckIn, **key: Unpack[IdempotencyKey]
    ) -> Call[QualityCheckOut]:
        """Check all complete conversations of a collection again, in the background, and store their quality flags."""
        return Call(QualityCheckOut, "POST", f"/v1/collections/{collection_id}/quality-flags", body=request, **key)

    @operation
    def list_collections(
        self,
        *,
        name: str | None = None,
        bot_id: Sequence[UUID] = (),
        order: ListOrder | None = None,
        **paging: Unpack[Paging],
    ) -> Listing[CollectionOut]:
        """List collections, oldest first.

        `bot_id` holds at most 100 ids: only collections in which at least one of these bots takes part are listed.
        """
        params = {"name": name, "bot_id": bot_id, "order": order}
        return Listing(CollectionOut, "/v1/collections", paging, params=params)

    @operation
    def create_collection(self, collection: CollectionIn, **key: Unpack[IdempotencyKey]) -> Call[StartedCollectionOut]:
        """Plan a collection and start it; `warnings` lists problems of its bots."""
        return Call(StartedCollectionOut, "POST", "/v1/collections", body=collection, **key)

    @operation
    def estimate_collection(self, collection: PlannedIn) -> Call[EstimateOut]:
        """Return the estimated cost of a collection; nothing is created."""
        return Call(EstimateOut, "POST", "/v1/collections/dry-run", body=collection)

    @operation
    def get_collection(self, collection_id: UUID) -> Call[CollectionOut]:
        """Return a collection and its progress."""
        return Call(CollectionOut, "GET", f"/v1/collections/{collection_id}")

    @operation
    def get_plan(self, collection_id: UUID) -> Call[CollectionPlanOut]:
        """Return the plan of a collection's conversations."""
        return Call(CollectionPlanOut, "GET", f"/v1/collections/{collection_id}/plan")

    @operation
    def change_collection(
        self, collection_id: UUID, changes: CollectionChangesIn, **key: Unpack[IdempotencyKey]
    ) -> Call[CollectionOut]:
        """Change a collection's name or priority."""
        return Call(CollectionOut, "PATCH", f"/v1/collections/{collection_id}", body=changes, **key)

    @operation
    def pause_collection(self, collection_id: UUID, **key: Unpack[IdempotencyKey]) -> Call[CollectionOut]:
        """Pause a collection: bots get no requests until it is resumed."""
        return Call(CollectionOut, "POST", f"/v1/collections/{collection_id}/pause", **key)

    @operation
    def resume_collection(self, collection_id: UUID, **key: Unpack[IdempotencyKey]) -> Call[CollectionOut]:
        """Resume a paused collection."""
        return Call(CollectionOut, "POST", f"/v1/collections/{collection_id}/resume", **key)

    @operation
    def cancel_collection(self, collection_id: UUID, **key: Unpack[IdempotencyKey]) -> Call[CollectionOut]:
        """End a collection; its running conversations are cancelled."""
        return Call(CollectionOut, "POST", f"/v1/collections/{collection_id}/cancel", **key)

    @operation
    def finish_collection(self, collection_id: UUID, **key: Unpack[IdempotencyKey]) -> Call[CollectionOut]:
        """Finish a collection of chats: no further chat can start. People can still rate chats that are over."""
        return Call(CollectionOut, "POST", f"/v1/collections/{collection_id}/finish", **key)

    @operation
    def list_pairs(self, collection_id: UUID, **paging: Unpack[Paging]) -> Listing[PairOut]:
        """List the pairs of a collection's participants, each with the number of conversations in each state."""
        return Listing(PairOut, f"/v1/collections/{collection_id}/pairs", paging)

    @operation
    def list_failures(self, collection_id: UUID, **paging: Unpack[Paging]) -> Listing[FailureOut]:
        """List the reasons why conversations failed or are waiting, the most frequent reasons first."""
        return Listing(FailureOut, f"/v1/collections/{collection_id}/failures", paging)

    @operation
    def watch_collection(self, collection_id: UUID) -> Events[CollectionOut]:
        """Follow a collection: an event `progress` whenever it changes, and at its end one event `finished`.

        Every event holds the whole state, so a reader that was cut off only has to call again.
        """
        return Events(CollectionOut, f"/v1/collections/{collection_id}/events")


class Conversations(ConversationsOperations, Client):
    """The client of `conversations`."""


class AsyncConversations(ConversationsOperations, AsyncClient):
    """The client of `conversations` on an event loop."""
