"""The table of the conversations that campaigns show."""

from uuid import UUID

from sqlalchemy import ForeignKey, Index, LargeBinary, String, UniqueConstraint
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from spotthebot.annotation.campaigns.tables import CampaignRow
from spotthebot.annotation.metadata import Base


class ShownConversationRow(Base):
    """The texts of a conversation by sides A and B, without its participants.

    `interactor_sha256` hashes the campaign's `interactor_salt` with the id of the person who chatted, or with random
    bytes. So the hash can only tell whether a known person chatted in this conversation.
    """

    __tablename__ = "shown_conversations"
    __table_args__ = (
        UniqueConstraint("campaign_id", "external_id"),
        Index(None, "campaign_id", "interactor_sha256"),
    )

    campaign_id: Mapped[UUID] = mapped_column(ForeignKey(CampaignRow.id), primary_key=True)
    conversation_id: Mapped[UUID] = mapped_column(primary_key=True)
    external_id: Mapped[str | None] = mapped_column(String(200))
    opening: Mapped[list[dict[str, str]]] = mapped_column(JSONB)
    turns: Mapped[list[dict[str, str]]] = mapped_column(JSONB)
    interactor_sha256: Mapped[bytes | None] = mapped_column(LargeBinary)
