"""Operations on the quality of a collection's conversations."""

from typing import Unpack
from uuid import UUID

from spotthebot.clients.operations import Call, Listing, Paging, operation
from spotthebot.contracts.conversations.quality import (
    FlagKind,
    QualityCheckIn,
    QualityCheckOut,
    QualityFlagsOut,
    QualityOut,
)


class QualityOperations:
    """`/v1/collections/{id}/quality` and `/quality-flags`."""

    @operation
    def get_quality(self, collection_id: UUID) -> Call[QualityOut]:
        """Return the summary of a collection's quality, and the progress of its check."""
        return Call(QualityOut, "GET", f"/v1/collections/{collection_id}/quality")

    @operation
    def list_quality_flags(
        self, collection_id: UUID, *, only: FlagKind | None = None, **paging: Unpack[Paging]
    ) -> Listing[QualityFlagsOut]:
        """List the flags of a collection's conversations, in the order of its plan."""
        path = f"/v1/collections/{collection_id}/quality-flags"
        return Listing(QualityFlagsOut, path, paging, params={"only": only})

    @operation
    def flag_conversations(
        self, collection_id: UUID, request: QualityCheckIn, *, idempotency_key: str | None = None
    ) -> Call[QualityCheckOut]:
        """Check all complete conversations of a collection again, in the background, and store their quality flags."""
        path = f"/v1/collections/{collection_id}/quality-flags"
        return Call(QualityCheckOut, "POST", path, body=request, idempotency_key=idempotency_key)
