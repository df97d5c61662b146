"""Conversations in a table: a row for each turn, or a row with all turns of a conversation."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final, NamedTuple, TypeAlias
from unicodedata import category, normalize

from pydantic import ValidationError

from spotthebot.contracts.conversations.conversations import ConversationIn
from spotthebot.contracts.names import HUMAN_NAME
from spotthebot.kit.text.validation import faults_of
from spotthebot.readers.files.cells import TableRow, shown
from spotthebot.readers.files.exports import text_of
from spotthebot.readers.files.messages import calls_tool, spoken, spoken_in_cell
from spotthebot.readers.files.numbers import number_of
from spotthebot.readers.files.rows import Table
from spotthebot.readers.meanings.columns import ColumnMapping
from spotthebot.readers.meanings.synonyms import FIELDS, names_of, plain, synonyms
from spotthebot.readers.meanings.values import ValueWords
from spotthebot.readers.rejected import FieldFault, Rejected

_TURN_LISTS: Final = ("turns", "messages", "conversation", "conversations", "dialogue", "dialog", "utterances")
"""The keys under which an object may hold all turns of a conversation."""
SENDER_CLASS: Final = "sender_class"
"""The key of a turn under which a log of ConvAI2's form has the kind of the speaker."""
_SIDES: Final = ("A", "B")


class Utterance(NamedTuple):
    """One turn: its speaker, its text, and the `sender_class` of the speaker in a log of ConvAI2's form, else empty."""

    speaker: str
    text: str
    sender_class: str = ""


NamesOf: TypeAlias = Callable[[Sequence[Utterance], TableRow], Mapping[str, str]]
"""Returns the name of each speaker in the turns of a row; raises FieldFault."""


def holds_turns(table: Table) -> str | None:
    """Return the column whose cells hold all turns of a conversation as JSON; None if each row is one turn."""
    for name in _TURN_LISTS:
        for column in table.columns:
            if plain(column) == name and any(listed_turns(cell) is not None for cell in table.values_of(column)):
                return column
    return None


def read_conversations(
    table: Table, mapping: ColumnMapping, words: ValueWords, left_out: frozenset[str] = frozenset()
) -> Iterator[ConversationIn | Rejected]:
    """Yield the conversations of a table with a row for each turn; turns of roles in `left_out` are skipped.

    The turns of a conversation are consecutive rows, in order or with a `position`. Consecutive turns of one speaker
    become one turn with several lines. An unreadable row belongs to the conversation of the row before it, which is
    then left out.
    """
    seen = set[str]()
    for name, group in groupby(table.rows(), key=_ConversationOf(mapping.columns["conversation"])):
        rows = list(group)
        broken = [row for row in rows if isinstance(row, Rejected)]
        turns = [row for row in rows if isinstance(row, TableRow)]
        yield from broken
        if not name:
            yield from (row.rejected("it names no conversation") for row in turns)
        elif name in seen:
            reason = f"conversation '{shown(name)}' ended on an earlier line: sort the file by conversation"
            yield from (row.rejected(reason) for row in turns)
        else:
            reason = (
                f"conversation '{shown(name)}' is left out, as line {broken[0].line} can't be read" if broken else ""
            )
            found = turns[0].rejected(reason) if broken else _of_rows(name, turns, mapping.columns, words, left_out)
            yield replace(found, rows=len(turns)) if isinstance(found, Rejected) else found
        seen.add(name)


class _ConversationOf:
    """Returns the conversation of a row; an unreadable row belongs to the conversation of the row before it."""

    def __init__(self, column: str) -> None:
        self._column = column
        self._last = ""

    def __call__(self, row: TableRow | Rejected) -> str:
        if isinstance(row, TableRow):
            self._last = row.id(self._column)
        return self._last


def read_whole_conversations(
    table: Table, turns: str, words: ValueWords, left_out: frozenset[str] = frozenset()
) -> Iterator[ConversationIn | Rejected]:
    """Yield the conversations of a table with a row for each conversation and all its turns in the column `turns`."""
    for found in rows_of_conversations(table, turns, words, left_out, _names_of_sides):
        yield found if isinstance(found, Rejected) else found[1]


def rows_of_conversations(
    table: Table, turns: str, words: ValueWords, left_out: frozenset[str], names_of: NamesOf
) -> Iterator[tuple[TableRow, ConversationIn] | Rejected]:
    """Yield each row with the conversation in its column `turns`."""
    names = [column for name in synonyms(FIELDS)["conversation"] for column in table.columns if plain(column) == name]
    ids = next((column for column in names if column != turns), None)
    seen = set[str]()
    for row in table.rows():
        if isinstance(row, Rejected):
            yield row
            continue
        name = row.id(ids) if ids else ", ".join(filter(None, (f"line {row.line}", row.name)))
        listed = listed_turns(row.cells.get(turns, ""))
        if not name:
            yield row.rejected("it names no conversation")
        elif name in seen:
            yield row.rejected(f"conversation '{shown(name)}' is on an earlier line already")
        elif listed is None:
            yield row.rejected(f"its {shown(turns)} must be a list of turns with a speaker and a text")
        else:
            seen.add(name)
            said = [turn for turn in listed if turn.speaker.casefold() not in left_out]
            try:
                named = names_of(said, row)
            except FieldFault as fault:
                yield row.rejected(f"conversation '{shown(name)}': {fault}")
            else:
                found = _conversation(row, name, said, named, words)
                yield found if isinstance(found, Rejected) else (row, found)


def _of_rows(
    name: str, rows: list[TableRow], column: Mapping[str, str], words: ValueWords, left_out: frozenset[str]
) -> ConversationIn | Rejected:
    place = column.get("position")
    if place is not None:
        positions = [number_of(row.cells[place]) for row in rows]
        if None in positions:
            wrong = rows[positions.index(None)]
            said = shown(wrong.cells[place])
            return wrong.rejected(f"its position '{said}' is not a number: conversation '{shown(name)}' is left out")
        rows = [row for _, row in sorted(zip(positions, rows, strict=True), key=lambda each: each[0] or 0.0)]
    bots = {row.named(column["bot_name"]) for row in rows} - {""} if "bot_name" in column else set()
    turns = [Utterance(row.named(column["speaker"]), spoken_in_cell(row.cells[column["text"]])) for row in rows]
    turns = [turn for turn in turns if turn.speaker.casefold() not in left_out]
    names = _names_of_roles(turns, min(bots) if len(bots) == 1 else None)
    return _conversation(rows[0], name, turns, names, words)


def _conversation(
    row: TableRow, name: str, turns: Iterable[Utterance], names: Mapping[str, str], words: ValueWords
) -> ConversationIn | Rejected:
    turns = list(turns)
    silent = next((at for at, turn in enumerate(turns) if not any(map(_is_seen, turn.text))), None)
    if silent is not None:
        return row.rejected(f"conversation '{shown(name)}': turn {silent + 1} is empty")
    turns = _joined(turns)
    speakers = list(dict.fromkeys(turn.speaker for turn in turns))
    if len(speakers) != len(_SIDES) or not all(speakers):
        said = ", ".join(map(shown, speakers[:5])) or "nobody"
        others = ": --leave-out ROLE leaves out turns of a role, such as system or tool" * (len(speakers) > len(_SIDES))
        return row.rejected(f"conversation '{shown(name)}' must have two speakers, and has {said}{others}")
    participants = [_participant(words.side(names[speaker])) for speaker in speakers]
    side = dict(zip(speakers, _SIDES, strict=True))
    try:
        return ConversationIn.model_validate(
            {
                "external_id": name,
                "participants": participants,
                "turns": [{"speaker": side[turn.speaker], "text": turn.text} for turn in turns],
            }
        )
    except ValidationError as error:
        return row.rejected(f"conversation '{shown(name)}': {faults_of(error)[0]}")


def _is_seen(character: str) -> bool:
    return not character.isspace() and category(character) != "Cf"


def _joined(turns: Iterable[Utterance]) -> list[Utterance]:
    return [
        Utterance(speaker, "\n".join(turn.text for turn in said))
        for speaker, said in groupby(turns, key=lambda turn: turn.speaker)
    ]


def _names_of_sides(turns: Iterable[Utterance], row: TableRow) -> dict[str, str]:
    """Return the name of each speaker: for A and B from the row's `participants` or `bots`, otherwise by role."""
    speakers = {turn.speaker for turn in turns}
    for column in ("participants", "bots"):
        names = _names(row.cells.get(column, ""))
        if names and speakers <= set(_SIDES):
            return dict(zip(_SIDES, names, strict=True))
    return _names_of_roles(turns, bot_of(row))


def _names_of_roles(turns: Iterable[Utterance], bot: str | None) -> dict[str, str]:
    """Return the name of each speaker: the known `bot` for a role such as `assistant`, otherwise the speaker itself."""
    return {
        turn.speaker: bot if bot is not None and turn.speaker.casefold() in names_of("assistants") else turn.speaker
        for turn in turns
    }


def _names(cell: str) -> list[str]:
    try:
        listed = json.loads(cell)
    except (ValueError, RecursionError):
        return []
    if not isinstance(listed, list) or len(listed) != len(_SIDES):
        return []
    return [text_of(each.get("name")) if isinstance(each, dict) else text_of(each) for each in listed]


def _participant(name: str) -> dict[str, str]:
    return {"kind": "human" if name == HUMAN_NAME else "bot", "name": name}


def bot_of(row: TableRow) -> str | None:
    """Return the name of the bot that a row states; None if it states none."""
    for name in synonyms(FIELDS)["bot_name"]:
        for column, value in row.cells.items():
            if plain(column) == name and value:
                return value
    return None


def listed_turns(cell: str) -> list[Utterance] | None:
    """Parse the turns in a cell. Speaker and text of a turn may have any name that a known tool gives them."""
    try:
        turns = json.loads(cell)
    except (ValueError, RecursionError):
        return None
    turns = [turns] if isinstance(turns, dict) else turns
    if not isinstance(turns, list) or not turns or not all(isinstance(turn, dict) for turn in turns):
        return None
    found = [
        Utterance(
            normalize("NFC", text_of(_first(turn, "speaker"))),
            spoken(_first(turn, "text") or _first(turn, "value")),
            text_of(turn.get(SENDER_CLASS)),
        )
        for turn in turns
        if not calls_tool(turn)
    ]
    return found if all(turn.speaker for turn in found) else None


def _first(turn: Mapping[str, object], field: str) -> object:
    return next((turn[name] for name in synonyms(FIELDS)[field] if name in turn), None)
