"""The metadata of the schema `analytics`, with the table of idempotency keys."""

from sqlalchemy.orm import DeclarativeBase

from spotthebot.kit.database.sessions import schema_metadata
from spotthebot.kit.web.database.tables import idempotency_table


class Base(DeclarativeBase):
    """The base of all tables of the schema."""

    metadata = schema_metadata("analytics")


IDEMPOTENCY = idempotency_table(Base.metadata)
