"""Packages: what each of their items shows."""

from typing import NewType
from uuid import UUID

from pydantic import Field

from spotthebot.contracts.wire import Wire

PackageId = NewType("PackageId", UUID)
MAX_PACKAGE_SIZE = 200


class PackageOut(Wire):
    """What a package holds, for analysis."""

    id: UUID
    external_id: str | None
    segments: tuple["SegmentRef", ...] = Field(max_length=MAX_PACKAGE_SIZE)


class ConversationRef(Wire):
    """A conversation up to a number of exchanges."""

    conversation_id: UUID
    exchanges: int


class SegmentRef(ConversationRef):
    """What one item of a package shows: a conversation, or two side by side."""

    text_hash: str | None = Field(
        description="Equal where items show the same words; of a pair, on the left. Null: it shows none."
    )
    right: ConversationRef | None = Field(description="Of a pair: the conversation on the right; null else.")
