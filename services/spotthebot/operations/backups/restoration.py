"""Restores a suite from a backup, which is verified before anything changes; the complete database replaces the old."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import sqlalchemy.exc
from psycopg import Connection, ProgrammingError, sql

from spotthebot.contracts.services import SCHEMAS, SERVICES
from spotthebot.kit.access.tables import LINEAGE as ACCESS_LINEAGE
from spotthebot.kit.crypto.vault import Vault
from spotthebot.kit.migrations.lineage import Lineage, upgrade
from spotthebot.local.postgres.client_programs import ProgramFailed, feed
from spotthebot.local.postgres.provision import Provisioned, connected, provision, url_with
from spotthebot.local.progress import Steps
from spotthebot.local.runtime.services import load_lineage
from spotthebot.operations.backups.archive import DATABASE, KEYS, Advance, BackupReader, member_of, reading
from spotthebot.operations.backups.creation import BackupContents, contents_of, in_mebibytes
from spotthebot.operations.backups.dumps import programs_for
from spotthebot.operations.backups.errors import (
    BackupDamaged,
    DatabaseInUse,
    HasDatabase,
    NewerBackup,
    NewerServer,
    RestoreFailed,
    SchemasMissing,
)
from spotthebot.operations.backups.kept_files import place_of, write_file

_MEBIBYTE = 1024 * 1024
_RESTORE = ("--format=custom", "--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error")
_TABLES = """
    SELECT count(*) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND n.nspname = ANY(%s)
"""
_USERS = """
    SELECT DISTINCT coalesce(nullif(application_name, ''), usename) FROM pg_stat_activity
    WHERE datname = %s AND pid <> pg_backend_pid() AND backend_type = 'client backend' ORDER BY 1
"""


@contextmanager
def checked_backup(path: Path, steps: Steps, *, partial: bool = False) -> Iterator[BackupReader]:
    """Open a backup, and verify that it is complete, undamaged and readable by this release.

    With `partial`, the backup may lack schemas; backups by earlier releases lack newer schemas. Raises NotABackup,
    BackupDamaged, NewerBackup and SchemasMissing, and OSError if the file is missing.
    """
    release = version("spotthebot")
    with reading(path, release) as backup:
        _check_manifest(backup, release, partial=partial)
        total = sum(member.bytes for member in backup.manifest.members.values())
        with steps.step("Checking (MiB)", total=total // _MEBIBYTE) as step:
            backup.verify(in_mebibytes(step.at))
        _check_keys(backup)
        yield backup


def restore_backup(
    backup: BackupReader,
    admin_url: str,
    database: str,
    environment: Mapping[str, str],
    steps: Steps,
    *,
    passwords: Mapping[str, str],
    replace: bool,
) -> BackupContents:
    """Replace the suite's data by the data of a checked backup, migrated to this release.

    Nothing may use the database meanwhile. An error leaves the current database unchanged. Models and keys of the
    backup overwrite files of the same name before the database is replaced, so that a second run completes an
    interrupted restoration. `passwords` are the passwords for `provision`. Raises NewerServer, HasDatabase,
    DatabaseInUse, RestoreFailed and NoClientPrograms.
    """
    check_place(admin_url, database, backup, replace=replace)
    dumps = sum(backup.manifest.members[member_of(schema)].bytes for schema in backup.manifest.schemas)
    with steps.step("Database (MiB)", total=dumps // _MEBIBYTE) as step:
        advance = in_mebibytes(step.at)
        with restored_database(admin_url, database, backup, passwords, advance) as urls:
            for schema, lineage in _lineages().items():
                try:
                    upgrade(lineage, urls.owner_urls[schema])
                except sqlalchemy.exc.ProgrammingError as error:
                    reason = f"the dump of {schema} lacks tables of its revision"
                    raise BackupDamaged(path=backup.path, reason=reason) from error
            _write_files(backup, environment)
    return contents_of(backup.manifest, backup.path)


def _lineages() -> dict[str, Lineage]:
    ours = {service.schema: load_lineage(service.name) for service in SERVICES if service.schema is not None}
    return {ACCESS_LINEAGE.schema: ACCESS_LINEAGE} | ours


def _check_manifest(backup: BackupReader, release: str, *, partial: bool) -> None:
    manifest, lineages = backup.manifest, _lineages()
    for schema, revision in manifest.schemas.items():
        if schema not in lineages or revision not in lineages[schema].known:
            raise NewerBackup(path=backup.path, made_by=manifest.release, release=release)
    expected = {member_of(schema) for schema in manifest.schemas}
    found = {name for name in manifest.members if name.startswith(f"{DATABASE}/")}
    if expected != found or not expected:
        raise BackupDamaged(path=backup.path, reason="its dumps do not match its schemas")
    if not partial and (missing := sorted(lineages.keys() - manifest.schemas.keys())):
        raise SchemasMissing(path=backup.path, names=", ".join(missing))


def _check_keys(backup: BackupReader) -> None:
    for name in backup.manifest.members:
        if name.startswith(f"{KEYS}/"):
            try:
                Vault(b"".join(backup.pieces(name)).decode())
            except ValueError as error:
                raise BackupDamaged(path=backup.path, reason=f"{name} is not an encryption key") from error


def _write_files(backup: BackupReader, environment: Mapping[str, str]) -> None:
    for name in backup.manifest.members:
        place = None if name.startswith(f"{DATABASE}/") else place_of(name, environment)
        if place is not None:
            write_file(place, backup.pieces(name), private=name.startswith(f"{KEYS}/"))


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
