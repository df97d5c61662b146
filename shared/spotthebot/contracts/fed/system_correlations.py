"""Whether scores rank bots as people do, by several collections side by side (Sato et al. 2022, Table 3)."""

from typing import Annotated, Self
from uuid import UUID

from pydantic import Field, model_validator

from spotthebot.contracts.annotation.studies import LONGEST_STUDY_MEASURE
from spotthebot.contracts.fed.correlations import DimensionCorrelationsOut, SplitHalfOut
from spotthebot.contracts.fed.dimensions import MAX_DIMENSIONS
from spotthebot.contracts.fed.score_jobs import MAX_BOTS
from spotthebot.contracts.levels import MAX_LEVEL, MIN_LEVEL
from spotthebot.contracts.wire import Name, Wire

MAX_SETS = 10
MAX_SOURCES = 50
MAX_RATINGS = 100_000
_Question = Annotated[str, Field(min_length=1, max_length=LONGEST_STUDY_MEASURE)]
_Sources = Annotated[tuple[UUID, ...], Field(max_length=MAX_SOURCES)]


class BotRatingIn(Wire):
    """One person's rating of a bot, from a table of ratings."""

    bot: Name
    annotator: Name
    question: _Question
    value: float


class SystemCorrelationsIn(Wire):
    """Score sets of the same bots, and people's ratings of these bots, whichever conversations they are about."""

    score_sets: tuple[UUID, ...] = Field(min_length=1, max_length=MAX_SETS, description="One for each way to collect.")
    campaigns: _Sources = ()
    chats: _Sources = Field(default=(), description="Collections of chats, whose people rated the bots.")
    studies: _Sources = Field(default=(), description="Their campaigns and chats count.")
    ratings: tuple[BotRatingIn, ...] = Field(
        default=(), max_length=MAX_RATINGS, description="Ratings of a table, such as those of another study."
    )
    rated: _Question | None = Field(
        default=None, description="The question for all dimensions; null: the question that is called as the dimension."
    )
    confidence_level: float = Field(default=0.95, ge=MIN_LEVEL, le=MAX_LEVEL)
    seed: int = Field(default=0, ge=0, lt=2**63, description="Of the random halves of people.")

    @model_validator(mode="after")
    def _has_ratings(self) -> Self:
        if not (self.campaigns or self.chats or self.studies or self.ratings):
            message = "name at least one campaign, collection of chats or study, or give ratings"
            raise ValueError(message)
        return self


class ScoredCollectionOut(Wire):
    """A score set: how its dialogues were collected, and what scored them."""

    score_set_id: UUID
    collection_id: UUID
    collection: str
    mode: str = Field(description="How bots were paired, such as self_play, all_play_all or bipartite.")
    dialogues: int = Field(description="Of the compared bots; a dialogue of two bots counts for each.")
    model_sha256: str


class RatedSystemOut(Wire):
    """A bot with people's mean rating and its mean score in each score set."""

    bot: str
    rating: float = Field(description="Mean over annotators, of each annotator's mean.")
    annotators: int
    scores: tuple[float, ...] = Field(max_length=MAX_SETS, description="Means over dialogues, by score set.")


class SystemDimensionOut(Wire):
    """One dimension: the bots by people's mean rating, best first, and how each score set correlates with it."""

    dimension: str
    rated: str
    systems: tuple[RatedSystemOut, ...] = Field(max_length=MAX_BOTS)
    score_sets: tuple[DimensionCorrelationsOut, ...] = Field(max_length=MAX_SETS, description="By score set.")
    ceiling: SplitHalfOut


class SystemCorrelationsOut(Wire):
    """Correlations of bots' mean scores with people's mean ratings, for several score sets side by side."""

    score_sets: tuple[ScoredCollectionOut, ...] = Field(max_length=MAX_SETS)
    dimensions: tuple[SystemDimensionOut, ...] = Field(max_length=MAX_DIMENSIONS)
    left_out: tuple[str, ...] = Field(max_length=MAX_BOTS * MAX_SETS, description="Bots that not every set has.")
    confidence_level: float
