"""Operations on collections: plan, create, follow, change, end."""

from collections.abc import Sequence
from typing import Unpack
from uuid import UUID

from spotthebot.clients.operations import Call, Listing, ListOrder, Paging, operation
from spotthebot.clients.streams import Events
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


class CollectionOperations:
    """`/v1/collections`."""

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
    def create_collection(
        self, collection: CollectionIn, *, idempotency_key: str | None = None
    ) -> Call[StartedCollectionOut]:
        """Plan a collection and start it; `warnings` lists problems of its bots."""
        return Call(StartedCollectionOut, "POST", "/v1/collections", body=collection, idempotency_key=idempotency_key)

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
        self, collection_id: UUID, changes: CollectionChangesIn, *, idempotency_key: str | None = None
    ) -> Call[CollectionOut]:
        """Change a collection's priority."""
        path = f"/v1/collections/{collection_id}"
        return Call(CollectionOut, "PATCH", path, body=changes, idempotency_key=idempotency_key)

    @operation
    def pause_collection(self, collection_id: UUID, *, idempotency_key: str | None = None) -> Call[CollectionOut]:
        """Pause a collection: bots get no requests until it is resumed."""
        return _changed(collection_id, "pause", idempotency_key)

    @operation
    def resume_collection(self, collection_id: UUID, *, idempotency_key: str | None = None) -> Call[CollectionOut]:
        """Resume a paused collection."""
        return _changed(collection_id, "resume", idempotency_key)

    @operation
    def cancel_collection(self, collection_id: UUID, *, idempotency_key: str | None = None) -> Call[CollectionOut]:
        """End a collection; its running conversations are cancelled."""
        return _changed(collection_id, "cancel", idempotency_key)

    @operation
    def finish_collection(self, collection_id: UUID, *, idempotency_key: str | None = None) -> Call[CollectionOut]:
        """Finish a collection of chats: no further chat can start. People can still rate chats that are over."""
        return _changed(collection_id, "finish", idempotency_key)

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


def _changed(collection_id: UUID, verb: str, idempotency_key: str | None) -> Call[CollectionOut]:
    path = f"/v1/collections/{collection_id}/{verb}"
    return Call(CollectionOut, "POST", path, idempotency_key=idempotency_key)
