"""Prints the result of an import: the rows that were read, stored, stored before, and rejected."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from spotthebot.importers.dump_import import Imported
from spotthebot.local.progress import screen
from spotthebot.readers.errors import TooFewRowsLeft
from spotthebot.readers.rejected import Rejected

_MAX_REJECTED_SHOWN = 20


def print_rejected(rejected: Sequence[Rejected], count: int | None = None) -> None:
    """Print the number of rejected rows, and the first of them with their reasons.

    `count` is the number of all rejected rows, if `rejected` contains only the first ones.
    """
    count = len(rejected) if count is None else count
    screen.print(f"rejected: {count}")
    for row in rejected[:_MAX_REJECTED_SHOWN]:
        screen.print(f"  {row.file}, line {row.line}: {row.reason}", markup=False, highlight=False)
    if count > _MAX_REJECTED_SHOWN:
        screen.print(f"  ... and {count - _MAX_REJECTED_SHOWN} more")


@contextmanager
def listing_rejected() -> Iterator[None]:
    """If the block fails because too few rows are left, print the rejected rows."""
    try:
        yield
    except TooFewRowsLeft as error:
        print_rejected(error.rows)
        raise


def print_counts(imported: Imported) -> None:
    """Print the number of rows of each kind that were read, stored, and stored before."""
    for kind, read in imported.read.items():
        stored, known = imported.stored[kind], imported.already_there[kind]
        screen.print(f"{kind}: {read} read, {stored} stored, {known} there already")
