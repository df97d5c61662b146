"""The metadata of the schema `annotation`."""

from sqlalchemy.orm import DeclarativeBase

from spotthebot.kit.database import schema_metadata


class Base(DeclarativeBase):
    """What all tables of the schema stand on."""

    metadata = schema_metadata("annotation")
