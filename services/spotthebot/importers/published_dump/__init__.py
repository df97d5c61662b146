"""Reader of the data that the authors of Spot The Bot (Deriu et al., 2020) published.

A dump is three MongoDB exports per domain: conversations, the packages that they were handed out
in, and the annotations. They are read as a stream, from a folder or from the zip as published, and
every row comes out either as a record or as a `Rejected` that names file, line and reason.
"""

from spotthebot.importers.published_dump.dump import Dump, open_dump
from spotthebot.importers.published_dump.errors import (
    DumpFileMissing,
    DumpIsTooLarge,
    DumpNotReadable,
    DumpTruncated,
    NotRowsOfJson,
    UnknownDumpDomain,
)
from spotthebot.importers.published_dump.records import (
    DumpAnnotation,
    DumpConversation,
    DumpPackage,
    DumpParticipant,
    DumpSegment,
    DumpTurn,
    Rejected,
)

__all__ = [
    "Dump",
    "DumpAnnotation",
    "DumpConversation",
    "DumpFileMissing",
    "DumpIsTooLarge",
    "DumpNotReadable",
    "DumpPackage",
    "DumpParticipant",
    "DumpSegment",
    "DumpTruncated",
    "DumpTurn",
    "NotRowsOfJson",
    "Rejected",
    "UnknownDumpDomain",
    "open_dump",
]
