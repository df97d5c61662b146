"""Dumps of all schemas at one moment, while services continue to write."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from psycopg import sql

from spotthebot.local.postgres.binaries import Binaries
from spotthebot.local.postgres.client_programs import ProgramFailed, find_client_programs, output_of
from spotthebot.local.postgres.provision import connected, url_with
from spotthebot.operations.backups.archive import Advance, BackupWriter, member_of
from spotthebot.operations.backups.errors import DumpFailed, NoClientPrograms

# Without owners and privileges, which the restoration sets up.
_DUMP = ("--format=custom", "--no-owner", "--no-privileges")
_HEADS = """
    SELECT nspname FROM pg_namespace WHERE to_regclass(quote_ident(nspname) || '.alembic_version') IS NOT NULL
    ORDER BY nspname
"""


@dataclass(frozen=True)
class Snapshot:
    """A snapshot of a database that pg_dump can read during the block of `snapshot_of`."""

    id: str
    url: str
    heads: Mapping[str, str]
    """The newest migration of each schema."""
    server_major: int
    bytes: int
    """The size of the database on disk; a dump is smaller."""


@contextmanager
def snapshot_of(admin_url: str, database: str) -> Iterator[Snapshot]:
    """Hold a snapshot of the database without blocking other sessions; raises DatabaseUnreachable."""
    url = url_with(admin_url, database=database)
    with connected(url, database) as admin:
        admin.execute("SET idle_in_transaction_session_timeout = 0")
        admin.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        heads = {}
        for (schema,) in admin.execute(_HEADS).fetchall():
            statement = sql.SQL("SELECT version_num FROM {}.alembic_version").format(sql.Identifier(schema))
            heads[schema] = str((admin.execute(statement).fetchone() or ("none",))[0])
        facts = admin.execute("SELECT pg_export_snapshot(), pg_database_size(current_database())").fetchone()
        snapshot_id, size = facts or ("", 0)  # it is one row
        yield Snapshot(snapshot_id, url, heads, admin.info.server_version // 10_000, size)


def programs_for(server_major: int) -> Binaries:
    """Return PostgreSQL's client programs for a version of the server; raises NoClientPrograms."""
    programs = find_client_programs(server_major)
    if programs is None:
        raise NoClientPrograms(major=server_major)
    return programs


def add_dumps(snapshot: Snapshot, programs: Binaries, backup: BackupWriter, advance: Advance) -> None:
    """Add the dump of each schema to a backup; raises DumpFailed."""
    for schema in snapshot.heads:
        dump = output_of(programs, "pg_dump", snapshot.url, *_DUMP, f"--snapshot={snapshot.id}", f'--schema="{schema}"')
        try:
            backup.add(member_of(schema), dump, advance)
        except ProgramFailed as error:
            raise DumpFailed(schema=schema, reason=error) from error
