"""The table of the conversations that campaigns show."""

from uuid import UUID

from sqlalchemy import ForeignKey, Index, LargeBinary, String, UniqueConstraint
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from spotthebot.annotation.campaigns.tables import CampaignRow
from spotthebot.annotation.metadata import Base


class ShownConversationRow(Base):
    """The texts of a conversation by sides A and B; nothing says who speaks.

    `interactor_sha256` is of the campaign's `interactor_salt` and the id of the person who chatted in it, or of random
    bytes: it tells whether a person who is known chatted here, and nothing else.
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
