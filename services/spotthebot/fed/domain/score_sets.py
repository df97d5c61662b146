"""Score jobs and their results: the scores of contexts. Texts and turns that a job scores."""

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
    """A job that scores conversations in `steps` batches. `done` batches are scored so far.

    `dimensions` are set once the job is complete.
    """

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
    """The counts of a job's stored rows; `recent` counts the contexts of the last minute."""

    contexts: int
    dialogues: int
    rejected: int
    recent: int


@dataclass(frozen=True)
class ScoredContext:
    """The scores of a bot's turn, in the order of the job's dimensions. `length` counts characters of its context.

    `text_hash` is the hash of the whole conversation (`spotthebot.kit.text.words.known_text_hash`).
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
        """Return the key of the conversation's text: conversations with the same text are one cluster."""
        return str(self.conversation_id) if self.text_hash is None else self.text_hash.hex()


@dataclass(frozen=True)
class StoredContext:
    """A context's scores with their id. Lists are in the order of these ids."""

    id: UUID
    context: ScoredContext


@dataclass(frozen=True)
class RejectedConversation:
    """A conversation that could not be scored."""

    conversation_id: UUID
    reason: str


@dataclass(frozen=True)
class BotTurn:
    """A bot's turn to score. Its context is all turns of the conversation up to and including this turn."""

    end: int
    bot: str


def texts_of(conversation: ConversationOut | ExportedConversation) -> tuple[str, ...]:
    """Return the texts of a conversation. They begin with the opening, since the bots replied to it."""
    return tuple(turn.text for turn in (*conversation.opening, *conversation.turns))


def turns_to_score(
    conversation: ConversationOut | ExportedConversation, level: Level, bots: Sequence[str] | None
) -> list[BotTurn]:
    """Return the turns of a conversation to score: every reply of a bot, or only the last reply of each bot.

    The opening has no turns to score, since people wrote it. An incomplete conversation has no turns to score either.
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
    """Return all fields of a conversation that scores depend on. A hash of these fields identifies the scored data."""
    return {
        "id": str(conversation.id),
        "state": conversation.state,
        "bots": [each.name for each in conversation.participants],
        "turns": texts_of(conversation),
    }
