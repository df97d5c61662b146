"""Tables of conversations in any form: a row for each turn, all turns in one object, or logs of chats with bots."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from spotthebot.contracts.conversations.conversations import ConversationIn
from spotthebot.readers.conversations import holds_turns, read_conversations, read_whole_conversations
from spotthebot.readers.errors import MappingFault
from spotthebot.readers.files.cells import shown
from spotthebot.readers.files.rows import Table, open_table
from spotthebot.readers.human_bot_logs import BotNames, LogReader, holds_logs
from spotthebot.readers.meanings.columns import ColumnMapping, Kind, find_columns, parse_map
from spotthebot.readers.meanings.values import ValueWords
from spotthebot.readers.rejected import Rejected
from spotthebot.readers.rejections import Tally

_EXAMPLES: Final = 4


@dataclass(frozen=True)
class ConversationReader:
    """A table of conversations, and how to read it: by the `mapping` of its columns, or from its column `turns`."""

    table: Table
    words: ValueWords
    left_out: frozenset[str]
    turns: str | None
    mapping: ColumnMapping | None

    def read(self) -> Iterator[ConversationIn | Rejected]:
        """Yield the conversations in order of the file, the same each time."""
        if self.mapping is not None:
            return read_conversations(self.table, self.mapping, self.words, self.left_out)
        return read_whole_conversations(self.table, self.turns or "", self.words, self.left_out)


@dataclass(frozen=True)
class Reading:
    """The user's statements about a table of conversations, and the collection that gets the conversations."""

    collection: str
    domain: str
    columns: Sequence[str] = ()
    people: Sequence[str] = ()
    left_out: Sequence[str] = ()
    bots: Sequence[str] = ()


def open_conversations(path: Path, reading: Reading) -> ConversationReader | LogReader:
    """Open a table, and find its form and the meaning of its columns; raises the errors of `readers`."""
    words = ValueWords.of((), reading.people)
    table = open_table(path)
    left_out = frozenset(role.strip().casefold() for roles in reading.left_out for role in roles.split(","))
    turns = holds_turns(table)
    if turns is not None and holds_logs(table, turns):
        bots = BotNames.of(reading.bots)
        return LogReader(table, turns, words, left_out, bots, reading.collection, reading.domain)
    if reading.bots:
        reason = f"no turn of {path.name} has a sender_class, which says who is a bot"
        raise MappingFault(option="--bot", given=reading.bots[0], reason=reason)
    mapping = None if turns is not None else find_columns(table, (Kind.TURNS,), parse_map(reading.columns), words)
    return ConversationReader(table, words, left_out, turns, mapping)


def tally_of(table: Table, found: Iterable[object]) -> Tally:
    """Count all rows of a table; `found` is what was read in it, with its rejected rows."""
    rejected = [each for each in found if isinstance(each, Rejected)]
    return Tally(read=sum(1 for _ in table.rows()), rejected=rejected)


class MappedColumn(NamedTuple):
    """The column of a field with examples of its values, as a terminal or a page may show them."""

    field: str
    column: str
    is_guessed: bool
    examples: str


def mapped_columns(table: Table, mapping: ColumnMapping) -> list[MappedColumn]:
    """Return the columns of a mapping in the order of its fields."""
    return [
        MappedColumn(
            shown(field),
            shown(column),
            field in mapping.guessed,
            ", ".join(map(shown, table.values_of(column)[:_EXAMPLES])),
        )
        for field, column in mapping.columns.items()
    ]
