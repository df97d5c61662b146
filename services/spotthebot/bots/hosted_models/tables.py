"""The tables of hosted models and their files."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger, DateTime, ForeignKey, String, UniqueConstraint, func
from sqlalchemy.orm import Mapped, mapped_column

from spotthebot.bots.metadata import Base


class HostedModelRow(Base):
    """A model that the suite hosts; its files are in the models folder. A running change holds the model's lease."""

    __tablename__ = "hosted_models"
    __table_args__ = (UniqueConstraint("name"),)

    id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(63))
    backend: Mapped[str] = mapped_column(String(20))
    directory: Mapped[str | None] = mapped_column(String(500))
    max_batch_size: Mapped[int]
    max_queue_delay_ms: Mapped[float]
    device: Mapped[str] = mapped_column(String(20))
    dtype: Mapped[str] = mapped_column(String(20))
    files_sha256: Mapped[str | None] = mapped_column(String(64))
    lease_id: Mapped[UUID | None]
    leased_until: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


class HostedModelFileRow(Base):
    """A file of a hosted model on the disk."""

    __tablename__ = "hosted_model_files"

    model_id: Mapped[UUID] = mapped_column(ForeignKey(HostedModelRow.id, ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(String(200), primary_key=True)
    bytes: Mapped[int] = mapped_column(BigInteger)
    sha256: Mapped[str] = mapped_column(String(64))
