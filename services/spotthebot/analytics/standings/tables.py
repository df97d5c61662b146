"""The table of the keys of pseudonyms."""

from datetime import datetime
from pathlib import Path
from uuid import UUID

from sqlalchemy import DateTime, Index, LargeBinary, String, func, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from spotthebot.analytics.metadata import Base
from spotthebot.kit.database.sessions import schema_metadata
from spotthebot.kit.migrations.lineage import Lineage
from spotthebot.kit.step_jobs.tables import step_job_tables
from spotthebot.kit.web.database.tables import idempotency_table


class PseudonymKeyRow(Base):
    """The key for the pseudonyms of a campaign's bots in standings. It is never sent to anybody."""

    __tablename__ = "pseudonym_keys"

    campaign_id: Mapped[UUID] = mapped_column(primary_key=True)
    key: Mapped[bytes] = mapped_column(
        LargeBinary, server_default=text("(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))")
    )
