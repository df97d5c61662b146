"""Readiness of the database: its schemas are at the revision that this release needs, and its disk has room."""

from collections.abc import Sequence

from psycopg.errors import DiskFull
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from spotthebot.kit.database.sessions import Database
from spotthebot.kit.errors import Unavailable
from spotthebot.kit.migrations.lineage import Lineage, NewerDatabase, state_of
from spotthebot.kit.waits.memo import Memo


class NotMigrated(Unavailable):
    """The schema {schema} is at revision {found}, this release needs {needed}: run the migrations."""


class DatabaseDiskFull(Unavailable):
    """The disk of the database is full: free some space."""


_ROOM_SECONDS = 5.0
"""Readiness needs no key, so frequent requests get the previous answer for this time."""
_SPILL = text("SELECT count(*) FROM (SELECT n FROM generate_series(1, 20000) AS n ORDER BY n DESC OFFSET 0) AS spilled")
"""A sort of 20,000 rows needs more memory than 64 kB, so PostgreSQL writes it to its disk."""


class DatabaseRoom:
    """Finds out whether PostgreSQL can still write to its disk. Only PostgreSQL itself knows this."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._checked = Memo[None, None](seconds=_ROOM_SECONDS)

    async def check(self) -> None:
        """Raise DatabaseDiskFull if a small temporary file does not fit."""
        await self._checked.get(None, self._spill)

    async def _spill(self) -> None:
        async with self._database.write() as session:
            await session.execute(text("SET LOCAL work_mem = '64kB'"))
            try:
                await session.execute(_SPILL)
            except OperationalError as error:
                if isinstance(error.orig, DiskFull):
                    raise DatabaseDiskFull from error
                raise


async def check_schemas(database: Database, lineages: Sequence[Lineage]) -> None:
    """Raise NotMigrated or NewerDatabase for the first schema that this release does not work with."""
    async with database.read() as session:
        for lineage in lineages:
            state = await state_of(session, lineage.schema)
            if lineage.works_with(state):
                continue
            error = NewerDatabase if lineage.is_newer(state) else NotMigrated
            raise error(schema=lineage.schema, found=state.revision or "none", needed=lineage.head)
