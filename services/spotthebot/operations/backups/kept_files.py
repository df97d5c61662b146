"""The files that a suite keeps outside its database: models, and the keys of encrypted columns."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from spotthebot.local.postgres.home import disk_errors
from spotthebot.local.whole_files import written
from spotthebot.operations.backups.archive import KEYS, MODELS

_PREFIX, _MODELS_FOLDER, _KEY_FILE = "SPOTTHEBOT_", "_MODELS_FOLDER", "_KEY_FILE"


def model_files(environment: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    """Yield the files of models with their names in a backup.

    Unfinished uploads, whose names begin with a dot, are skipped.
    """
    for service, folder in _model_folders(environment).items():
        for parent, folders, names in os.walk(folder):
            folders.sort()
            for name in sorted(names):
                file = Path(parent, name)
                if file.is_file() and not name.startswith("."):
                    yield f"{MODELS}/{service}/{file.relative_to(folder).as_posix()}", file


def key_files(environment: Mapping[str, str]) -> dict[str, Path]:
    """Return the files of encryption keys, by their names in a backup, such as `keys/bots_secrets.key`."""
    return {
        f"{KEYS}/{name.removeprefix(_PREFIX).removesuffix(_KEY_FILE).lower()}.key": Path(value)
        for name, value in sorted(environment.items())
        if name.endswith(_KEY_FILE)
    }


def place_of(name: str, environment: Mapping[str, str]) -> Path | None:
    """Return this machine's path for a file in a backup; None if the file's service keeps no such files here."""
    kind, _, rest = name.partition("/")
    if kind == KEYS:
        return key_files(environment).get(name)
    service, _, inside = rest.partition("/")
    folder = environment.get(f"{_PREFIX}{service.upper()}{_MODELS_FOLDER}")
    return Path(folder, inside) if folder and inside else None


def write_file(path: Path, pieces: Iterable[bytes], *, private: bool) -> None:
    """Write a file completely or not at all. Only the owner can read a `private` file."""
    with disk_errors(path.parent):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with written(path) as file:
        os.fchmod(file.fileno(), 0o600 if private else 0o644)
        for piece in pieces:
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())


def _model_folders(environment: Mapping[str, str]) -> dict[str, Path]:
    """Return the folders of models by service. A folder that several services share belongs to the first service."""
    found: dict[str, Path] = {}
    for name, value in sorted(environment.items()):
        if name.endswith(_MODELS_FOLDER) and Path(value) not in found.values():
            found[name.removeprefix(_PREFIX).removesuffix(_MODELS_FOLDER).lower()] = Path(value)
    return found
