"""The metadata of the schema `conversations`, which its tables share."""

from sqlalchemy.orm import DeclarativeBase

from spotthebot.kit.database.sessions import schema_metadata
from spotthebot.kit.events.tables import event_tables
from spotthebot.kit.web.database.tables import idempotency_table


class Base(DeclarativeBase):
    """The base of all tables of the schema."""

    metadata = schema_metadata("conversations")


EVENT_TABLES = event_tables(Base.metadata)
IDEMPOTENCY = idempotency_table(Base.metadata)
