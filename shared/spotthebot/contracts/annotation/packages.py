"""Packages, and the conversations of their items."""

from typing import NewType
from uuid import UUID

from pydantic import Field

from spotthebot.contracts.wire import Wire

PackageId = NewType("PackageId", UUID)
MAX_PACKAGE_SIZE = 200


class PackageOut(Wire):
    """The content of a package, for analysis."""

    id: UUID
    external_id: str | None
    segments: tuple["SegmentRef", ...] = Field(max_length=MAX_PACKAGE_SIZE)


class ConversationRef(Wire):
    """The first exchanges of a conversation: the conversation's id, and the number of exchanges."""

    conversation_id: UUID
    exchanges: int


class SegmentRef(ConversationRef):
    """The content of one item of a package: one conversation, or two that are shown side by side."""

    text_hash: str | None = Field(
        description="Equal where items show the same words; of a pair, on the left. Null: it shows none."
    )
    right: ConversationRef | None = Field(description="Of a pair: the conversation on the right; null else.")
