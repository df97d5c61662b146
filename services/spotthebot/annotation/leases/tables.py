"""The table of assignments, with the lease of each."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import DateTime, ForeignKey, Index, String, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from spotthebot.annotation.campaigns.tables import CampaignRow
from spotthebot.annotation.metadata import Base
from spotthebot.annotation.packages.tables import PackageRow


class AssignmentRow(Base):
    """A package leased to an annotator.

    `heard_at` is the time of the last sign of life, with the item on the screen. An assignment takes a slot of its
    package, unless its annotator is a judge.
    """

    __tablename__ = "assignments"
    __table_args__ = (
        UniqueConstraint("package_id", "annotator_id"),
        Index(None, "annotator_id", "state"),
        Index("ix_assignments_of_judges", "annotator_id", "package_id", postgresql_where=text("NOT takes_slot")),
        Index("ix_assignments_leased", "campaign_id", "expires_at", postgresql_where=text("state = 'leased'")),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    campaign_id: Mapped[UUID] = mapped_column(ForeignKey(CampaignRow.id))
    package_id: Mapped[UUID] = mapped_column(ForeignKey(PackageRow.id))
    annotator_id: Mapped[UUID] = mapped_column(ForeignKey("annotators.id"))
    state: Mapped[str] = mapped_column(String(20))
    leased_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    submitted_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    completion_code: Mapped[str | None] = mapped_column(String(100))
    heard_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    heard_position: Mapped[int | None]
    takes_slot: Mapped[bool] = mapped_column(server_default="true")
