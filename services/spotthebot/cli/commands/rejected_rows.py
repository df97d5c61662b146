"""Prints what became of an import: rows read, stored, there already, and those that could not be read."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from spotthebot.importers.dump_import import Imported
from spotthebot.importers.published_dump import Rejected
from spotthebot.importers.tables.errors import TooFewRowsLeft
from spotthebot.local.progress import screen

_MAX_REJECTED_SHOWN = 20


def print_rejected(rejected: Sequence[Rejected], count: int | None = None) -> None:
    """Print how many rows could not be read, `count` where `rejected` is only the first of them, and those rows."""
    count = len(rejected) if count is None else count
    screen.print(f"rejected: {count}")
    for row in rejected[:_MAX_REJECTED_SHOWN]:
        screen.print(f"  {row.file}, line {row.line}: {row.reason}", markup=False, highlight=False)
    if count > _MAX_REJECTED_SHOWN:
        screen.print(f"  ... and {count - _MAX_REJECTED_SHOWN} more")


@contextmanager
def listing_rejected() -> Iterator[None]:
    """Print the rows on whose account too few are left."""
    try:
        yield
    except TooFewRowsLeft as error:
        print_rejected(error.rows)
        raise


def print_counts(imported: Imported) -> None:
    """Print how many rows of each kind were read and stored."""
    for kind, read in imported.read.items():
        stored, known = imported.stored[kind], imported.already_there[kind]
        screen.print(f"{kind}: {read} read, {stored} stored, {known} there already")
