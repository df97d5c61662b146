"""The only table of the schema `access`. The operator's command line writes it, and every service reads it."""

from datetime import datetime
from pathlib import Path
from uuid import UUID

from sqlalchemy import DateTime, LargeBinary, String, func
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from spotthebot.kit.database.sessions import schema_metadata
from spotthebot.kit.migrations.lineage import Lineage

SCHEMA = "access"


class _Base(DeclarativeBase):
    metadata = schema_metadata(SCHEMA)


class ApiKeyRow(_Base):
    """An API key. The operator's command line shows its text once, and stores only the hash of the secret."""

    __tablename__ = "api_keys"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    role: Mapped[str] = mapped_column(String(20))
    team: Mapped[str | None] = mapped_column(String(100))
    note: Mapped[str] = mapped_column(String(200))
    secret_sha256: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    expires_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    revoked_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


LINEAGE = Lineage(SCHEMA, _Base.metadata, Path(__file__).parent / "migrations")
