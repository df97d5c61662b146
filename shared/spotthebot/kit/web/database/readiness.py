"""Readiness of schemas: each has to be at the revision that this release was written for."""

from collections.abc import Sequence

from spotthebot.kit.database import Database
from spotthebot.kit.errors import Unavailable
from spotthebot.kit.migrations import Lineage, current_revision


class NotMigrated(Unavailable):
    """The schema {schema} is at revision {found}, this release needs {needed}: run the migrations."""


async def check_schemas(database: Database, lineages: Sequence[Lineage]) -> None:
    """Raise NotMigrated for the first schema that is at another revision than its lineage's newest."""
    async with database.read() as session:
        for lineage in lineages:
            found = await current_revision(session, lineage.schema)
            if found != lineage.head:
                raise NotMigrated(schema=lineage.schema, found=found or "none", needed=lineage.head)
