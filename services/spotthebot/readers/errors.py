"""The errors of a table as a whole; a fault of a single row is a `Rejected` instead."""

from collections.abc import Sequence

from spotthebot.kit.errors import Invalid
from spotthebot.readers.rejected import Rejected


class TableUnreadable(Invalid):
    """{file} can't be read: {reason}."""

    title = "Not readable"


class ColumnsUnknown(Invalid):
    """{file} has no column for {missing} (its columns: {columns}): name it, for example with --map {example}."""

    title = "Columns unknown"


class NoNumbers(Invalid):
    """Column '{column}' of {file} holds no numbers ({found}): write ratings as numbers, such as 4 or 4.5."""

    title = "No numbers"


class MappingFault(Invalid):
    """The mapping {option} '{given}' can't be used: {reason}."""

    title = "Mapping refused"


class TooFewRowsLeft(Invalid):
    """Too many rows were rejected."""

    title = "Most rows rejected"

    def __init__(self, rows: Sequence[Rejected], **facts: object) -> None:
        self.rows = rows
        super().__init__(fields=(), **facts)


class MostRowsRejected(TooFewRowsLeft):
    """{rejected} of {read} rows were rejected, most often: {reason}. --allow-rejected uses the others."""


class BotLosesRows(TooFewRowsLeft):
    """{lost} of {read} rows of bot {bot} were rejected, most often: {reason}. --allow-rejected uses the others."""
