"""Jobs that score the conversations of a collection, and the sets of scores that they make."""

from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from spotthebot.contracts.fed.dimensions import MAX_DIMENSIONS
from spotthebot.contracts.fed.scorers import TEMPLATE_DATE, Level, ScorerIn
from spotthebot.contracts.levels import MAX_LEVEL, MIN_LEVEL
from spotthebot.contracts.repeated_texts import MAX_REPEATED, RepeatedTexts
from spotthebot.contracts.wire import Name, Wire

MAX_BOTS = 1000


class ScoreRankingSettings(Wire):
    """How bots are ranked by their scores: the settings that a request and a file both have."""

    confidence_level: float = Field(
        default=0.95, ge=MIN_LEVEL, le=MAX_LEVEL, description="Of the intervals and the ranks."
    )
    resamples: int = Field(default=2000, ge=100, le=100_000, description="Bootstrap replicates over dialogues.")


class ScoreJobIn(ScoreRankingSettings):
    """A request to score the bots of a collection."""

    collection_id: UUID
    scorer: ScorerIn
    level: Level = "turn"
    bots: Annotated[tuple[Name, ...], Field(min_length=1, max_length=MAX_BOTS)] | None = Field(
        default=None, description="Whose turns are scored, by name: in bipartite-play the targets. Null: all bots'."
    )
    seed: int = Field(default=0, ge=0, lt=2**63)


class ScoreJobState(StrEnum):
    """The state of a score job."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETE = "complete"
    CANCELLED = "cancelled"
    FAILED = "failed"
    """`failure` has the reason."""


class ScoreJobOut(Wire):
    """A score job and its progress. Its score set has the same id."""

    id: UUID
    collection_id: UUID
    request: ScoreJobIn
    state: ScoreJobState
    failure: str | None
    done: int = Field(description="Batches of conversations that are done.")
    steps: int
    contexts: int = Field(description="Contexts that are scored so far.")
    rejected: int = Field(description="Conversations that could not be scored so far.")
    rate_contexts_per_second: float | None = Field(description="Over the last minute; null where none was scored.")
    model_sha256: str | None
    created_at: datetime
    finished_at: datetime | None
    version: str


class BaselineOut(Wire):
    """The score that the length of a context alone predicts: `intercept + slope / length`, by least squares.

    The length is in characters.
    """

    intercept: float
    slope: float
    r2: float | None = Field(description="Share of the variance of the scores that length explains.")
    contexts: int


class BotScoreOut(Wire):
    """A bot's mean score, its interval and its rank range."""

    bot: str
    score: float
    low: float | None
    high: float | None
    reason: str | None = Field(description="Why there is no interval; null where there is one.")
    rank_low: int
    rank_high: int
    contexts: int
    dialogues: int = Field(description="Of different texts.")
    length_baseline: float | None = Field(description="The mean score that the lengths of its contexts alone give.")
    beyond_length: float | None = Field(description="`score` less `length_baseline`.")


class DimensionScoresOut(Wire):
    """One dimension: the bots, best first, and its length baseline."""

    dimension: str
    bots: tuple[BotScoreOut, ...] = Field(max_length=MAX_BOTS)
    baseline: BaselineOut | None = Field(description="Null with fewer than three lengths.")
    confidence_level: float
    method: str


class ScoreSetOut(Wire):
    """The result of a score job: a summary of its scores for each bot."""

    id: UUID
    collection_id: UUID
    request: ScoreJobIn
    model_sha256: str
    data_sha256: str = Field(description="Over the conversations that were scored.")
    template_date: date | None = Field(description=TEMPLATE_DATE)
    contexts: int
    dialogues: int
    rejected: int
    dimensions: tuple[DimensionScoresOut, ...] = Field(max_length=MAX_DIMENSIONS)
    repeated_texts: tuple[RepeatedTexts, ...] = Field(
        max_length=MAX_REPEATED, description="Speakers whose scored conversations repeat one another's words."
    )
    created_at: datetime
    version: str


class ContextScoresOut(Wire):
    """The scores of one context: a conversation up to a turn of the bot."""

    conversation_id: UUID
    turn: int = Field(description="Turns of the context, the opening's included.")
    bot: str
    length: int = Field(description="In characters, as the baseline counts them.")
    turns_left_out: int
    scores: dict[str, float] = Field(max_length=MAX_DIMENSIONS)
    length_baselines: dict[str, float | None] = Field(max_length=MAX_DIMENSIONS)


class RejectedOut(Wire):
    """A conversation that could not be scored."""

    conversation_id: UUID
    reason: str


class ExportedScore(Wire):
    """One score in an export: one dimension of one context."""

    conversation_id: UUID
    turn: int
    bot: str
    dimension: str
    score: float
    length_baseline: float | None
    length: int
    turns_left_out: int
    mode: Literal["whole_sequence_mean", "followup_mean", "followup_sum"]
    model_sha256: str
