"""The actions of an administrator that a collection's current state allows, and a table as its import reads it."""

import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
from tempfile import TemporaryDirectory
from typing import Final

from spotthebot.contracts.conversations.collections import CollectionOut, CollectionState
from spotthebot.contracts.conversations.conversations import ConversationIn
from spotthebot.contracts.conversations.exports import ExportedConversation
from spotthebot.readers.errors import TableUnreadable, TooFewRowsLeft
from spotthebot.readers.human_bot_logs import LogReader
from spotthebot.readers.rejected import Rejected
from spotthebot.readers.rejections import Tally
from spotthebot.readers.tables import MappedColumn, Reading, mapped_columns, open_conversations, tally_of

_OF_COLLECTIONS: Final[Mapping[CollectionState, tuple[str, ...]]] = {
    CollectionState.COLLECTING: ("pause", "cancel"),
    CollectionState.PAUSED: ("resume", "cancel"),
    CollectionState.COMPLETE: (),
    CollectionState.CANCELLED: (),
}
COLLECTION_ACTIONS: Final = ("pause", "resume", "cancel", "finish")
TABLE_ENDINGS: Final = (".csv", ".tsv", ".jsonl", ".json", ".eval")
"""The endings of the names of tables; a file with another ending is read as well."""
_UNPACKED_MIB: Final = 16


def collection_actions(collection: CollectionOut) -> tuple[str, ...]:
    """Return the actions that a collection's state allows, the most likely first; none for an import."""
    actions = _OF_COLLECTIONS[collection.state]
    if collection.mode == "import":
        return ()
    if collection.mode == "human_bot":
        return ("finish",) if actions else ()
    return actions


@dataclass(frozen=True)
class CheckedTable:
    """A table with the conversations that an import would store: plain `conversations`, or `chats` with bots."""

    form: str
    mapping: Sequence[MappedColumn]
    rows: int
    conversations: Sequence[ConversationIn]
    chats: Sequence[ExportedConversation]
    rejected: Sequence[Rejected]
    too_many_rejected: bool

    @property
    def count(self) -> int:
        return len(self.conversations) + len(self.chats)

    @property
    def rejected_rows(self) -> int:
        return sum(each.rows for each in self.rejected)

    @property
    def first(self) -> ConversationIn | ExportedConversation | None:
        return next(iter(self.conversations), None) or next(iter(self.chats), None)

    @property
    def can_be_imported(self) -> bool:
        return self.count > 0 and not self.too_many_rejected


def check_table(content: bytes, filename: str, reading: Reading) -> CheckedTable:
    """Read an uploaded table; raises the errors of `readers`. It takes seconds: call it in a thread."""
    ending = PureWindowsPath(filename).suffix.lower()
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"table{ending if ending in TABLE_ENDINGS else ''}"
        path.write_bytes(content)
        _check_archive(path)
        reader = open_conversations(path, reading)
        found = [*reader.read()]
        tally = tally_of(reader.table, found)
    mapping = None if isinstance(reader, LogReader) else reader.mapping
    return CheckedTable(
        form=reader.table.form,
        mapping=[] if mapping is None else mapped_columns(reader.table, mapping),
        rows=tally.read,
        conversations=[each for each in found if isinstance(each, ConversationIn)],
        chats=[each for each in found if isinstance(each, ExportedConversation)],
        rejected=tally.rejected,
        too_many_rejected=_lost_most(tally),
    )


def _check_archive(path: Path) -> None:
    """Refuse an archive that needs far more memory than the upload."""
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(each.file_size for each in archive.infolist())
    except zipfile.BadZipFile:
        return
    if size > _UNPACKED_MIB * 1024**2:
        reason = f"it unpacks to more than {_UNPACKED_MIB} MiB: ./stb import conversations reads it"
        raise TableUnreadable(file=path.name, reason=reason)


def _lost_most(tally: Tally) -> bool:
    try:
        tally.require_most(ranked=False)
    except TooFewRowsLeft:
        return True
    return False
