"""Deletes rows about the past, such as old answers and failed jobs, after a time that a setting defines.

Rows are deleted in batches; each batch has a transaction of its own. Rows that another process has locked are skipped.
So several processes of a service can delete at the same time, and no process waits for another.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import text

from spotthebot.kit.database.sessions import DATABASE_TROUBLE, Database
from spotthebot.kit.settings import JobSettings, ServiceSettings
from spotthebot.kit.telemetry.logs import get_logger
from spotthebot.kit.waits.cancellation import pause
from spotthebot.kit.waits.clock import Clock, system_clock

_ROWS_PER_BATCH = 1000
_PURGE_SECONDS = 600.0

_log = get_logger(__name__)


@dataclass(frozen=True)
class KeptRows:
    """The rows of a table, and how long they are kept. `is_old` is an SQL condition with the parameter `before`."""

    table: str
    is_old: str
    kept: timedelta


class Retention:
    """Deletes the old rows of one schema."""

    def __init__(self, database: Database, schema: str, rows: Sequence[KeptRows], clock: Clock = system_clock) -> None:
        self._database, self._schema, self._rows, self._clock = database, schema, rows, clock

    async def run(self) -> None:
        """Purge every ten minutes until cancelled. A failure of the database is logged, and the next purge is tried."""
        while True:
            try:
                await self.purge()
            except DATABASE_TROUBLE as error:
                _log.warning("retention.waits", error=type(error).__name__)
            await pause(_PURGE_SECONDS)

    async def purge(self) -> None:
        """Delete all rows that are older than their retention."""
        for rows in self._rows:
            deleted = 0
            while batch := await self._delete_batch(rows):
                deleted += batch
                if batch < _ROWS_PER_BATCH:
                    break
            if deleted:
                _log.info("rows.purged", table=f"{self._schema}.{rows.table}", rows=deleted)

    async def _delete_batch(self, rows: KeptRows) -> int:
        before = self._clock() - rows.kept
        async with self._database.write() as session:
            # Triggers of procrastinate's tables name other tables without their schema.
            await session.execute(text("SELECT set_config('search_path', :schema, true)"), {"schema": self._schema})
            deleted = await session.execute(
                text(f"""
                    WITH old AS (
                        SELECT ctid FROM {self._schema}.{rows.table}
                        WHERE {rows.is_old} LIMIT :limit FOR UPDATE SKIP LOCKED
                    ), gone AS (
                        DELETE FROM {self._schema}.{rows.table} WHERE ctid IN (SELECT ctid FROM old) RETURNING 1
                    )
                    SELECT count(*) FROM gone
                """),  # noqa: S608 - tables and conditions of ours
                {"before": before, "limit": _ROWS_PER_BATCH},
            )
            return int(deleted.scalar_one())


def old_idempotency_keys(settings: ServiceSettings) -> KeptRows:
    """Return the retention rule of stored answers, which are kept for repeated requests."""
    return KeptRows("idempotency_keys", "created_at < :before", timedelta(hours=settings.idempotency_key_hours))


def old_failed_jobs(settings: JobSettings) -> KeptRows:
    """Return the retention rule of failed and aborted jobs. Successful jobs are deleted as soon as they end."""
    return KeptRows(
        "procrastinate_jobs",
        "status NOT IN ('todo', 'doing') AND NOT EXISTS (SELECT FROM procrastinate_events"
        " WHERE job_id = procrastinate_jobs.id AND at >= :before)",
        timedelta(days=settings.failed_job_retention_days),
    )


def retention_of(settings: JobSettings, database: Database, schema: str, *more: KeptRows) -> Retention:
    """Return the retention of a service with jobs: of stored answers, of failed jobs, and of its own rows in `more`."""
    return Retention(database, schema, [old_idempotency_keys(settings), old_failed_jobs(settings), *more])
