"""Replaces the current database by a restored database, after the restored database is complete."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from psycopg import Connection, ProgrammingError, sql

from spotthebot.contracts.services import SCHEMAS
from spotthebot.local.postgres.client_programs import ProgramFailed, feed
from spotthebot.local.postgres.provision import Provisioned, connected, provision, url_with
from spotthebot.operations.backups.archive import Advance, BackupReader
from spotthebot.operations.backups.dumps import programs_for
from spotthebot.operations.backups.errors import BackupDamaged, DatabaseInUse, HasDatabase, NewerServer, RestoreFailed
from spotthebot.operations.backups.manifest import member_of

_RESTORE = ("--format=custom", "--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error")
_TABLES = """
    SELECT count(*) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND n.nspname = ANY(%s)
"""
_USERS = """
    SELECT DISTINCT coalesce(nullif(application_name, ''), usename) FROM pg_stat_activity
    WHERE datname = %s AND pid <> pg_backend_pid() AND backend_type = 'client backend' ORDER BY 1
"""


def check_place(admin_url: str, database: str, backup: BackupReader, *, replace: bool) -> None:
    """Raise an error if the backup can't be restored in this place.

    Either the database is in use, or it holds tables and `replace` is false, or the server is older than the server of
    the backup.
    """
    with connected(admin_url, database) as admin:
        major = admin.info.server_version // 10_000
        if major < backup.manifest.postgresql:
            raise NewerServer(path=backup.path, made_on=backup.manifest.postgresql, major=major)
        if not _exists(admin, database):
            return
        _refuse_users(admin, database)
    if not replace:
        with connected(url_with(admin_url, database=database), database) as inside:
            (tables,) = inside.execute(_TABLES, [[*SCHEMAS, *backup.manifest.schemas]]).fetchone() or (0,)
        if tables:
            raise HasDatabase(tables=tables)


@contextmanager
def restored_database(
    admin_url: str, database: str, backup: BackupReader, passwords: Mapping[str, str], advance: Advance
) -> Iterator[Provisioned]:
    """Fill a new database with the dumps, and yield its URLs.

    If the block ends without an error, the new database replaces the database of this name, which is dropped. Otherwise
    nothing changes. Raises RestoreFailed, BackupDamaged, DatabaseInUse, NoClientPrograms, and the errors of
    `provision`.
    """
    restoring, replaced = f"{database}_restoring", f"{database}_replaced"
    with connected(admin_url, database) as admin:
        _drop(admin, restoring, replaced)  # left by a killed restoration
        try:
            urls = provision(admin_url, restoring, SCHEMAS, passwords, roles_of=database)
            for schema, revision in backup.manifest.schemas.items():
                _restore(backup, schema, urls.owner_urls[schema], admin.info.server_version // 10_000, advance)
                _check_revision(backup, schema, urls.owner_urls[schema], revision)
            yield urls
            with connected(url_with(admin_url, database=restoring), database) as inside:
                inside.execute("ANALYZE")
            _refuse_users(admin, database)
            with admin.transaction():
                if _exists(admin, database):
                    _rename(admin, database, replaced)
                _rename(admin, restoring, database)
        except BaseException:
            _drop(admin, restoring)
            raise
        _drop(admin, replaced)


def _restore(backup: BackupReader, schema: str, url: str, server_major: int, advance: Advance) -> None:
    def counted() -> Iterator[bytes]:
        for piece in backup.pieces(member_of(schema)):
            advance(len(piece))
            yield piece

    try:
        feed(programs_for(server_major), "pg_restore", url, *_RESTORE, f"--schema={schema}", pieces=counted())
    except ProgramFailed as error:
        raise RestoreFailed(schema=schema, reason=error) from error


def _check_revision(backup: BackupReader, schema: str, url: str, revision: str) -> None:
    statement = sql.SQL("SELECT version_num FROM {}.alembic_version").format(sql.Identifier(schema))
    with connected(url, schema) as inside:
        try:
            found = inside.execute(statement).fetchall()
        except ProgrammingError as error:
            raise BackupDamaged(path=backup.path, reason=f"the dump of {schema} holds another schema") from error
        if found != [(revision,)]:
            raise BackupDamaged(path=backup.path, reason=f"the dump of {schema} is not at revision {revision}")


def _exists(admin: Connection, database: str) -> bool:
    return admin.execute("SELECT FROM pg_database WHERE datname = %s", [database]).rowcount > 0


def _refuse_users(admin: Connection, database: str) -> None:
    if names := [str(name) for (name,) in admin.execute(_USERS, [database]).fetchall()]:
        raise DatabaseInUse(names=", ".join(names))


def _rename(admin: Connection, database: str, name: str) -> None:
    statement = sql.SQL("ALTER DATABASE {} RENAME TO {}")
    admin.execute(statement.format(sql.Identifier(database), sql.Identifier(name)))


def _drop(admin: Connection, *databases: str) -> None:
    for database in databases:
        admin.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(database)))
