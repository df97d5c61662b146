"""The table of judges."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import DateTime, String, Text, UniqueConstraint, func
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from spotthebot.annotation.metadata import Base


class JudgeRow(Base):
    """A version of a judge, which never changes. `sha256` is that of its settings; it holds no secret."""

    __tablename__ = "judges"
    __table_args__ = (UniqueConstraint("name", "version"), UniqueConstraint("name", "sha256"))

    id: Mapped[UUID] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(50))
    version: Mapped[int]
    description: Mapped[str] = mapped_column(Text)
    settings: Mapped[dict[str, Any]] = mapped_column(JSONB)
    sha256: Mapped[str] = mapped_column(String(64))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
