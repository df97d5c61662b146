"""Restores a suite from a backup. The backup is verified before anything changes."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from sqlalchemy.exc import ProgrammingError

from spotthebot.contracts.services import SERVICES
from spotthebot.kit.access.tables import LINEAGE as ACCESS_LINEAGE
from spotthebot.kit.crypto.vault import Vault
from spotthebot.kit.migrations.lineage import Lineage, upgrade
from spotthebot.local.progress import Steps
from spotthebot.local.runtime.services import load_lineage
from spotthebot.operations.backups.archive import BackupReader, reading
from spotthebot.operations.backups.creation import BackupContents, contents_of, in_mebibytes
from spotthebot.operations.backups.errors import BackupDamaged, NewerBackup, SchemasMissing
from spotthebot.operations.backups.kept_files import place_of, write_file
from spotthebot.operations.backups.manifest import DATABASE, KEYS, member_of
from spotthebot.operations.backups.replacement import check_place, restored_database

_MEBIBYTE = 1024 * 1024


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
                except ProgrammingError as error:
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
