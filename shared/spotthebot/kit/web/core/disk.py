"""The part that makes an application not ready while a disk is full that it writes to."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from spotthebot.kit.errors import Unavailable
from spotthebot.kit.settings import EdgeSettings
from spotthebot.kit.web.core.parts import Part

_MEBIBYTE = 1024 * 1024


class NoRoomOnDisk(Unavailable):
    """The disk of a folder that this service writes to has {free} MiB left, and needs {needed}: free some space."""


class DiskPart(Part):
    """The readiness of the disks that hold the temporary folder and the paths in the settings."""

    def __init__(self, settings: EdgeSettings) -> None:
        self._folders = {Path(tempfile.gettempdir()), *_folders_of(settings)}
        self._needed = settings.min_free_disk_mb

    async def check_ready(self) -> None:
        for folder in self._folders:
            free = free_mebibytes(folder)
            if free < self._needed:
                raise NoRoomOnDisk(free=free, needed=self._needed)


def free_mebibytes(folder: Path) -> int:
    """Return the free space for a folder, which need not exist yet.

    It is 0 if the file system has no room for more files.
    """
    while not folder.exists():
        folder = folder.parent
    disk = os.statvfs(folder)
    if disk.f_files and not disk.f_favail:
        return 0
    return disk.f_bavail * disk.f_frsize // _MEBIBYTE


def _folders_of(settings: EdgeSettings) -> Iterator[Path]:
    for _, value in settings:
        if isinstance(value, Path):
            yield value if value.is_dir() else value.absolute().parent
