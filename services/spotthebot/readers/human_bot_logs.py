"""Logs of people's chats with bots in the form of ConvAI2, with the ratings that people gave.

http://convai.io/data: a list of dialogues. A dialogue has `dialog`, a list of turns with `sender` (such as
`participant1`), `text` and `sender_class` (`Human` or `Bot`), and `eval_score`, the person's score from 1 to 5. Some
files have `dialog_id`, `participant1_id`, `participant2_id` and `end_time`. A missing score is null, and -1 in the
copy on the Hugging Face Hub (`conv_ai_2`). The sentences of `bot_profile` and `user_profile` become personas; that copy
has each sentence as a list of letters. Scores of single turns and `profile_match` are not kept.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, TypeGuard
from unicodedata import normalize
from uuid import UUID, uuid5

from pydantic import ValidationError

from spotthebot.contracts.annotation.annotations import kind_by_name
from spotthebot.contracts.conversations.chats import SCORES
from spotthebot.contracts.conversations.conversations import (
    ConversationIn,
    ConversationState,
    Ending,
    Participant,
    ParticipantKind,
)
from spotthebot.contracts.conversations.exports import ExportedConversation, ExportedRating, ExportedScore, ExportedTurn
from spotthebot.contracts.names import HUMAN_NAME
from spotthebot.kit.text.validation import faults_of
from spotthebot.readers.conversations import Utterance, bot_of, listed_turns, rows_of_conversations
from spotthebot.readers.errors import MappingFault
from spotthebot.readers.files.cells import TableRow, is_missing, shown
from spotthebot.readers.files.numbers import number_of
from spotthebot.readers.files.rows import Table
from spotthebot.readers.meanings.synonyms import names_of
from spotthebot.readers.meanings.values import ValueWords
from spotthebot.readers.rejected import FieldFault, Rejected

EVAL_SCORE: Final = "eval_score"
"""The column of a dialogue's score, and the question that the imported rating answers."""
_HUMAN, _BOT = "human", "bot"
_PROFILES: Final = {ParticipantKind.BOT: "bot_profile", ParticipantKind.HUMAN: "user_profile"}
_NO_SCORE: Final = -1
_IDS: Final = ("_id", "_id.user_id", "_id.id")
"""What follows the sender's name in the columns that may hold the sender's id."""
_UNKNOWN_TIME: Final = datetime(1970, 1, 1, tzinfo=UTC)
_CHATS: Final = UUID("6b1f6f0e-3c0e-4b8e-9a53-6d2e8f0b7c11")
"""The namespace of the ids of imported chats, so that a second import finds the first."""


@dataclass(frozen=True)
class BotNames:
    """The names of bots in results: by their names or ids in the file, and one for bots that the file does not name."""

    by_id: Mapping[str, str]
    unnamed: str | None

    @classmethod
    def of(cls, given: Sequence[str]) -> "BotNames":
        """Parse the values of `--bot`, each NAME or ID=NAME; raises MappingFault."""
        by_id: dict[str, str] = {}
        unnamed: list[str] = []
        for text in given:
            key, equals, name = (part.strip() for part in text.rpartition("="))
            if not name or (equals and not key):
                raise MappingFault(option="--bot", given=shown(text), reason="write NAME, or ID=NAME")
            if equals:
                by_id[key] = name
            else:
                unnamed.append(name)
        if len(unnamed) > 1:
            raise MappingFault(option="--bot", given=shown(unnamed[1]), reason="only one name can be without an ID")
        return cls(by_id, unnamed[0] if unnamed else None)

    def name(self, known: Sequence[str]) -> str:
        """Return the name of a bot whose names and ids in the file are `known`, the best first; raises FieldFault."""
        renamed = [self.by_id[each] for each in known if each in self.by_id]
        found = next(iter([*renamed, *known]), self.unnamed)
        if found is None:
            raise FieldFault(reason="nothing in the file names its bot: --bot NAME names it")
        return found


@dataclass(frozen=True)
class LogReader:
    """A table of logs whose column `turns` has the dialogues, and how to read it into a collection."""

    table: Table
    turns: str
    words: ValueWords
    left_out: frozenset[str]
    bots: BotNames
    collection: str
    domain: str

    def read(self) -> Iterator[ExportedConversation | Rejected]:
        """Yield the conversations in the form of exports, in order of the file, the same each time."""
        for found in rows_of_conversations(self.table, self.turns, self.words, self.left_out, self._names_of):
            if isinstance(found, Rejected):
                yield found
                continue
            row, conversation = found
            try:
                yield self._exported(row, conversation)
            except FieldFault as fault:
                yield row.rejected(f"conversation '{shown(conversation.external_id)}': {fault}")

    def _names_of(self, turns: Sequence[Utterance], row: TableRow) -> Mapping[str, str]:
        classes: dict[str, set[str]] = {}
        for turn in turns:
            classes.setdefault(turn.speaker, set()).add(turn.sender_class.casefold())
        names = {}
        for speaker, found in classes.items():
            if found == {_HUMAN}:
                names[speaker] = HUMAN_NAME
            elif found == {_BOT}:
                names[speaker] = self.bots.name([*filter(None, (bot_of(row),)), *_ids(row, speaker)])
            else:
                listed = " and ".join(sorted(shown(each) or "nothing" for each in found))
                raise FieldFault(reason=f"the sender_class of '{shown(speaker)}' is {listed}, not Human or Bot")
        if len(names) == 2 and [*names.values()].count(HUMAN_NAME) != 1:
            kind = "people" if HUMAN_NAME in names.values() else "bots"
            raise FieldFault(reason=f"both sides are {kind}, so it is not a chat of a person with a bot")
        return names

    def _exported(self, row: TableRow, found: ConversationIn) -> ExportedConversation:
        first, second = found.participants
        try:
            return ExportedConversation(
                id=found.external_id,
                collection=self.collection,
                domain=self.domain,
                mode="human_bot",
                collection_cancelled=False,
                bots=(first.name, second.name),
                participants=found.participants,
                personas=_personas(row, found.participants),
                opening=(),
                opening_shown=False,
                seed=0,
                state=ConversationState.COMPLETE,
                ended_by=Ending.PERSON,
                failure=None,
                turns=tuple(
                    ExportedTurn(speaker=turn.speaker, text=turn.text, raw=None, latency_ms=None, said_at=None)
                    for turn in found.turns
                ),
                rating=self._rating(row, found.external_id),
                quality_flags=None,
            )
        except ValidationError as error:
            raise FieldFault(reason=faults_of(error)[0]) from error

    def _rating(self, row: TableRow, conversation: str) -> ExportedRating | None:
        score = _score(row)
        if score is None:
            return None
        turns = listed_turns(row.cells.get(self.turns, "")) or ()
        person = next(turn.speaker for turn in turns if turn.sender_class.casefold() == _HUMAN)
        known = _ids(row, person)
        # Nothing says who rated: then each dialogue counts as another person's.
        interactor = known[0] if known else f"person of {conversation}"
        return ExportedRating(
            chat_id=uuid5(_CHATS, conversation),
            interactor=interactor,
            interactor_kind=kind_by_name(interactor),
            number=1,
            scores=(ExportedScore(question=EVAL_SCORE, score=score),),
            preferred=None,
            rated_at=_time(row),
        )


def holds_logs(table: Table, turns: str) -> bool:
    """Return whether the turns in a column say who is a person and who is a bot."""
    cells = map(listed_turns, table.values_of(turns))
    return any(turn.sender_class for listed in cells for turn in listed or ())


def _ids(row: TableRow, speaker: str) -> list[str]:
    """Return the ids that a row gives a speaker; a word such as "Bot" or "User" is not an id."""
    cells = [row.id(f"{speaker}{ending}") for ending in _IDS]
    words = names_of("assistants") | names_of("people")
    return [cell for cell in cells if cell and cell.casefold() not in words]


def _personas(row: TableRow, participants: Sequence[Participant]) -> tuple[str, str] | None:
    """Return the profiles of the sides, a sentence in each line; None without any. Raises FieldFault."""
    first, second = (_profile(row, _PROFILES[each.kind]) for each in participants)
    return (first, second) if first or second else None


def _profile(row: TableRow, column: str) -> str:
    cell = row.cells.get(column, "")
    if is_missing(cell):
        return ""
    try:
        sentences = json.loads(cell)
    except (ValueError, RecursionError):
        return row.composed(column)
    listed = sentences if isinstance(sentences, list) else [sentences]
    joined = ["".join(each) if _are_texts(each) else each for each in listed]
    if not _are_texts(joined):
        raise FieldFault(reason=f"its {column} is not a list of sentences")
    letters = all(len(each) == 1 for each in joined)
    return normalize("NFC", ("" if letters else "\n").join(joined))


def _are_texts(held: object) -> TypeGuard[list[str]]:
    return isinstance(held, list) and all(isinstance(each, str) for each in held)


def _score(row: TableRow) -> int | None:
    cell = row.cells.get(EVAL_SCORE, "")
    number = number_of(cell)
    if is_missing(cell) or number == _NO_SCORE:
        return None
    if number is None or number not in SCORES:
        raise FieldFault(
            reason=f"its {EVAL_SCORE} '{shown(cell)}' is not a whole number from {SCORES[0]} to {SCORES[-1]}"
        )
    return int(number)


def _time(row: TableRow) -> datetime:
    """Return when the chat ended or began; 1970 if the file has no such time, as exports need one."""
    for name in ("end_time", "start_time"):
        try:
            found = datetime.fromisoformat(row.cells.get(name, ""))
        except ValueError:
            continue
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    return _UNKNOWN_TIME
