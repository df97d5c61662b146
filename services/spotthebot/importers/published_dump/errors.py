"""The errors of a dump as a whole; a fault of a single row is a `Rejected` instead."""

from spotthebot.kit.errors import Invalid


class UnknownDumpDomain(Invalid):
    """The published data has no domain '{domain}': choose one of {known}."""

    title = "Unknown domain"


class DumpFileMissing(Invalid):
    """{place} holds no file '{file}', which the domain needs."""

    title = "File missing"


class DumpNotReadable(Invalid):
    """{place} cannot be read: {reason}."""

    title = "Not readable"


class DumpIsTooLarge(Invalid):
    """The files of the domain in {place} unpack to {size} bytes: at most {limit} bytes are accepted."""

    title = "Too large"


class DumpTruncated(Invalid):
    """{file} ends in the middle of line {line}, so nothing of it was read: copy the whole file again."""

    title = "Truncated"


class NotRowsOfJson(Invalid):
    """{file} holds neither JSON Lines nor a JSON array of objects."""

    title = "Not JSON"
