"""Why a table cannot be imported at all; what is wrong with a single row is a `Rejected` instead."""

from spotthebot.kit.errors import Invalid


class TableUnreadable(Invalid):
    """{file} can't be read: {reason}."""

    title = "Not readable"


class ColumnsUnknown(Invalid):
    """No column of {file} says {missing} (its columns: {columns}): name them, such as --map {example}."""

    title = "Columns unknown"


class MappingFault(Invalid):
    """The mapping {option} '{given}' can't be used: {reason}."""

    title = "Mapping refused"


class MappingNotConfirmed(Invalid):
    """The columns were guessed and there is no terminal to confirm them: add --yes, or {mapping}."""

    title = "Not confirmed"


class ValuesUnknown(Invalid):
    """No value of column '{column}' is a {kind} ({found}): say what they mean, such as --values {example}."""

    title = "Values unknown"
