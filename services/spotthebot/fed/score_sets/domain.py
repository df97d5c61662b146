"""Score jobs and their results: the scores of contexts."""

from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from spotthebot.contracts.fed.score_jobs import DimensionScoresOut, ScoreJobIn, ScoreJobState
from spotthebot.contracts.repeated_texts import RepeatedTexts


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
