"""The metadata of the schema `fed`, with the tables that every service has: events, idempotency keys."""

from sqlalchemy.orm import DeclarativeBase

from spotthebot.kit.database.sessions import schema_metadata
from spotthebot.kit.events.tables import event_tables
from spotthebot.kit.web.database.tables import idempotency_table


class Base(DeclarativeBase):
    """The base of all tables of the schema."""

    metadata = schema_metadata("fed")


EVENT_TABLES = event_tables(Base.metadata)
IDEMPOTENCY = idempotency_table(Base.metadata)
