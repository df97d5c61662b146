"""Files that are written completely or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from spotthebot.local.postgres.home import disk_errors


@contextmanager
def written(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file that gets the name `path` when the block ends without an error; make its folder."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    with disk_errors(path.parent):
        path.parent.mkdir(exist_ok=True)
        try:
            with unfinished.open("wb") as file:
                yield file
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
