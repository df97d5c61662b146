"""Makes a backup: first the dumps of all schemas at one moment, after them the files that the dumps may name."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from spotthebot.local.progress import Steps
from spotthebot.operations.backups.archive import (
    DATABASE,
    FORMAT,
    KEYS,
    MODELS,
    Advance,
    BackupWriter,
    Manifest,
    pieces_of,
    writing,
)
from spotthebot.operations.backups.dumps import add_dumps, programs_for, snapshot_of
from spotthebot.operations.backups.kept_files import key_files, model_files

_MEBIBYTE = 1024 * 1024


@dataclass(frozen=True)
class BackupContents:
    """The content of a backup. `keys` are its key files by service; `bytes` is the size of the backup's file."""

    path: Path
    created_at: str
    schemas: int
    models: int
    keys: tuple[str, ...]
    bytes: int


def create_backup(
    path: Path, admin_url: str, database: str, environment: Mapping[str, str], steps: Steps, *, with_keys: bool
) -> BackupContents:
    """Write a backup, completely or not at all. Services may run and write data meanwhile.

    `environment` holds the services' settings, which name the folders and files to read. Files are read after the
    dumps, because each file exists before the row that names it. Raises DatabaseUnreachable, NoClientPrograms,
    DumpFailed, DiskFull and FolderNotWritable.
    """
    created_at = datetime.now(UTC).isoformat(timespec="seconds")
    with writing(path) as backup:
        with snapshot_of(admin_url, database) as snapshot, steps.step("Database (MiB)") as step:
            add_dumps(snapshot, programs_for(snapshot.server_major), backup, in_mebibytes(step.at))
        _add_files(backup, model_files(environment), "Models (MiB)", steps)
        if with_keys:
            _add_files(backup, iter(key_files(environment).items()), "Keys (MiB)", steps)
        manifest = Manifest(
            format=FORMAT,
            release=version("spotthebot"),
            created_at=created_at,
            postgresql=snapshot.server_major,
            schemas=snapshot.heads,
            members=backup.members,
        )
        backup.finish(manifest)
    return contents_of(manifest, path)


def contents_of(manifest: Manifest, path: Path) -> BackupContents:
    """Return the content of a backup, read from its manifest."""
    names = {kind: [name for name in manifest.members if name.startswith(f"{kind}/")] for kind in (MODELS, KEYS)}
    return BackupContents(
        path=path,
        created_at=manifest.created_at,
        schemas=len([name for name in manifest.members if name.startswith(f"{DATABASE}/")]),
        models=len(names[MODELS]),
        keys=tuple(name.partition("/")[2] for name in names[KEYS]),
        bytes=path.stat().st_size,
    )


def in_mebibytes(show: Callable[[int], None]) -> Advance:
    """Return a function that sums numbers of bytes and shows the sum in MiB."""
    done = 0

    def advance(by: int) -> None:
        nonlocal done
        done += by
        show(done // _MEBIBYTE)

    return advance


def _add_files(backup: BackupWriter, files: Iterator[tuple[str, Path]], what: str, steps: Steps) -> None:
    with steps.step(what) as step:
        advance = in_mebibytes(step.at)
        for name, path in files:
            try:
                opened = path.open("rb")
            except FileNotFoundError:  # a model that was removed just now, or a key that was never made
                continue
            with opened as file:
                backup.add(name, pieces_of(file), advance)
