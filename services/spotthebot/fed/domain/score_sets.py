"""Score jobs and what they make: scores of contexts, and their sum by bot."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from spotthebot.contracts.conversations.conversations import ConversationOut, ConversationState, ParticipantKind
from spotthebot.contracts.conversations.exports import ExportedConversation
from spotthebot.contracts.fed.score_jobs import DimensionScoresOut, ScoreJobIn, ScoreJobState
from spotthebot.contracts.repeated_texts import RepeatedTexts
from spotthebot.fed.domain.dialogues import Level


@dataclass(frozen=True)
class ScoreJob:
    """A job: `done` of `steps` batches of conversations are scored; `dimensions` are there once it is complete."""

    id: UUID
    request: ScoreJobIn
    state: ScoreJobState
    failure: str | None
    done: int
    steps: int
    model_sha256: str | None
    data_sha256: str | None
    template_date: date | None
    version: str
    created_at: datetime
    finished_at: datetime | None
    dimensions: tuple[DimensionScoresOut, ...] | None
    repeated_texts: tuple[RepeatedTexts, ...]


@dataclass(frozen=True)
class JobProgress:
    """What a job has stored so far; `recent` counts the contexts of the last minute."""

    contexts: int
    dialogues: int
    rejected: int
    recent: int


@dataclass(frozen=True)
class ScoredContext:
    """The scores of a bot's turn, in the order of the job's dimensions; `length` counts characters.

    `text_hash` is the whole conversation's (`spotthebot.kit.text.words.known_text_hash`).
    """

    conversation_id: UUID
    turn: int
    bot: str
    length: int
    turns_left_out: int
    scores: tuple[float, ...]
    text_hash: bytes | None = None

    @property
    def text(self) -> str:
        """What stands for the text of the conversation: conversations of one text are one cluster."""
        return str(self.conversation_id) if self.text_hash is None else self.text_hash.hex()


@dataclass(frozen=True)
class StoredContext:
    """Scores as they are listed: by ascending id."""

    id: UUID
    context: ScoredContext


@dataclass(frozen=True)
class RejectedConversation:
    """A conversation that could not be scored."""

    conversation_id: UUID
    reason: str


@dataclass(frozen=True)
class BotTurn:
    """A turn of a bot that is scored: the context is all turns up to it."""

    end: int
    bot: str


def texts_of(conversation: ConversationOut | ExportedConversation) -> tuple[str, ...]:
    """Return what was said, the opening included: bots answered it."""
    return tuple(turn.text for turn in (*conversation.opening, *conversation.turns))


def turns_to_score(
    conversation: ConversationOut | ExportedConversation, level: Level, bots: Sequence[str] | None
) -> list[BotTurn]:
    """Return which turns of a conversation are scored: those of bots that answer another, or each bot's last such one.

    Utterances of the opening are people's. A conversation that is not complete has none.
    """
    if conversation.state is not ConversationState.COMPLETE:
        return []
    names = {
        side: participant.name
        for side, participant in zip("AB", conversation.participants, strict=True)
        if participant.kind is ParticipantKind.BOT and (bots is None or participant.name in bots)
    }
    said = len(conversation.opening)
    spoken = [
        BotTurn(number, names[turn.speaker])
        for number, turn in enumerate(conversation.turns, start=said + 1)
        if number > 1 and turn.speaker in names
    ]
    if level is Level.TURN:
        return spoken
    return sorted({each.bot: each for each in spoken}.values(), key=lambda each: each.end)


def conversation_line(conversation: ConversationOut) -> dict[str, Any]:
    """Return all that scores depend on, to be hashed."""
    return {
        "id": str(conversation.id),
        "state": conversation.state,
        "bots": [each.name for each in conversation.participants],
        "turns": texts_of(conversation),
    }
