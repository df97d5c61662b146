"""The tables of packages and of their items."""

from uuid import UUID

from sqlalchemy import (
    CheckConstraint,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    String,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from spotthebot.annotation.campaigns.tables import CampaignRow
from spotthebot.annotation.conversations.tables import ShownConversationRow
from spotthebot.annotation.metadata import Base


class PackageRow(Base):
    """Items that one annotator labels in one sitting; `slots_left` counts the annotators still needed.

    Packages of one `block` show the same conversations. A package needs `extra_annotators` in addition to the
    campaign's `annotations_per_segment`: one if its units were drawn by `units_twice`, or as many as its upload said.
    `undecided_items` counts the items that showed a pair of bots without a verdict, at the latest report of
    `analytics`; packages with more of them are given out first.
    """

    __tablename__ = "packages"
    __table_args__ = (
        UniqueConstraint("campaign_id", "external_id"),
        Index(
            "ix_packages_claimable",
            "campaign_id",
            text("undecided_items DESC"),
            "id",
            postgresql_where=text("slots_left > 0"),
        ),
        CheckConstraint("slots_left >= 0", name="slots_left_not_negative"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    campaign_id: Mapped[UUID] = mapped_column(ForeignKey(CampaignRow.id), index=True)
    external_id: Mapped[str | None] = mapped_column(String(200))
    block: Mapped[int | None]
    extra_annotators: Mapped[int] = mapped_column(server_default="0")
    slots_left: Mapped[int] = mapped_column(server_default="0")
    undecided_items: Mapped[int] = mapped_column(server_default="0")


class ItemRow(Base):
    """The first `exchanges` exchanges of a conversation, at a position of the one package that shows them.

    `speakers` has the side of each turn shown, opening included: `ABABA`. `text_hash` is equal for items that show the
    same words; it is null for items without words. For a pair all columns except `right_...` are about the left
    conversation.
    """

    __tablename__ = "items"
    __table_args__ = (
        UniqueConstraint("campaign_id", "conversation_id", "exchanges"),
        UniqueConstraint("package_id", "position"),
        ForeignKeyConstraint(
            ["campaign_id", "conversation_id"],
            [ShownConversationRow.campaign_id, ShownConversationRow.conversation_id],
        ),
        ForeignKeyConstraint(
            ["campaign_id", "right_conversation_id"],
            [ShownConversationRow.campaign_id, ShownConversationRow.conversation_id],
            name="right_conversation",
        ),
        Index(
            "ix_items_right_conversation",
            "campaign_id",
            "right_conversation_id",
            unique=True,
            postgresql_where=text("right_conversation_id IS NOT NULL"),
        ),
        CheckConstraint(
            "(right_conversation_id IS NULL) = (right_exchanges IS NULL) AND right_conversation_id <> conversation_id",
            name="right_conversation_is_another",
        ),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    campaign_id: Mapped[UUID]
    package_id: Mapped[UUID] = mapped_column(ForeignKey(PackageRow.id))
    conversation_id: Mapped[UUID]
    exchanges: Mapped[int]
    right_conversation_id: Mapped[UUID | None]
    right_exchanges: Mapped[int | None]
    position: Mapped[int]
    speakers: Mapped[str] = mapped_column(Text)
    text_hash: Mapped[bytes | None] = mapped_column(LargeBinary)
