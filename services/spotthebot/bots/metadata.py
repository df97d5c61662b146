"""The metadata of the schema `bots`: what its tables, wherever they stand, have in common."""

from sqlalchemy.orm import DeclarativeBase

from spotthebot.kit.database.sessions import schema_metadata
from spotthebot.kit.web.database.tables import idempotency_table


class Base(DeclarativeBase):
    """What all tables of the schema stand on."""

    metadata = schema_metadata("bots")


IDEMPOTENCY = idempotency_table(Base.metadata, early_claims=True)
