"""Why a table cannot be imported at all; what is wrong with a single row is a `Rejected` instead."""

from collections.abc import Sequence

from spotthebot.importers.published_dump.records import Rejected
from spotthebot.kit.errors import Invalid


class TableUnreadable(Invalid):
    """{file} can't be read: {reason}."""

    title = "Not readable"


class ColumnsUnknown(Invalid):
    """No column of {file} says {missing} (its columns: {columns}): name them, such as --map {example}."""

    title = "Columns unknown"


class NoNumbers(Invalid):
    """Column '{column}' of {file} holds no numbers ({found}): write ratings as numbers, such as 4 or 4.5."""

    title = "No numbers"


class MappingFault(Invalid):
    """The mapping {option} '{given}' can't be used: {reason}."""

    title = "Mapping refused"


class MappingNotConfirmed(Invalid):
    """The columns were guessed and there is no terminal to confirm them: add --yes, or {mapping}."""

    title = "Not confirmed"


class ValuesUnknown(Invalid):
    """No value of column '{column}' is a {kind} ({found}): say what they mean, such as --values {example}."""

    title = "Values unknown"


class NumbersNameWinner(Invalid):
    """The numbers of column '{column}' ({found}) can name the winner in two ways: say it with --values {examples}."""

    title = "Winners unclear"


class WinnerIsBotOrSide(Invalid):
    """In column '{column}', {found} can be a bot's name or a side or a tie: say --winners names or --winners sides."""

    title = "Winners unclear"


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


class AnnotatorsUnknown(Invalid):
    """No column of {file} says annotator, so there are no clusters of annotators: --map annotator=COLUMN names it."""

    title = "Annotators unknown"


class MissingCoded(Invalid):
    """{count} values of {dimension} are {code}, as if missing (others {others}): say --scale {without} or {scale}."""

    title = "Missing ratings"
