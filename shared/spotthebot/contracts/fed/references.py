"""Scores of bots that are not here: they travel with a partner set, and new bots are ranked beside them."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from spotthebot.contracts.fed.dimensions import MAX_DIMENSIONS
from spotthebot.contracts.fed.score_jobs import MAX_BOTS, DimensionScoresOut
from spotthebot.contracts.fed.scorers import Level, ScorerIn
from spotthebot.contracts.wire import Name, Wire

MAX_DIALOGUES = 50_000
"""Dialogues of all bots of a reference."""
MAX_REFERENCES = 3
_Hash = Annotated[str, Field(pattern="^[0-9a-f-]{1,64}$")]
_Scores = Annotated[tuple[float, ...], Field(max_length=MAX_DIMENSIONS)]


class ReferenceBot(Wire):
    """A bot's scores by dialogue. The columns have one element for each dialogue; texts and openings are hashes."""

    bot: Name
    texts: tuple[_Hash, ...] = Field(max_length=MAX_DIALOGUES)
    openings: tuple[_Hash | None, ...] = Field(max_length=MAX_DIALOGUES)
    scores: tuple[_Scores, ...] = Field(max_length=MAX_DIALOGUES, description="By dialogue, then by dimension.")

    @model_validator(mode="after")
    def _has_equal_columns(self) -> Self:
        if not len(self.texts) == len(self.openings) == len(self.scores):
            message = "texts, openings and scores need one element for each dialogue"
            raise ValueError(message)
        return self


class ScoreReference(Wire):
    """The scores of a set by dialogue, and the scorer that decides with which other scores they can be compared."""

    scorer: ScorerIn
    level: Level
    model_sha256: str
    dimensions: tuple[Name, ...] = Field(max_length=MAX_DIMENSIONS)
    bots: tuple[ReferenceBot, ...] = Field(max_length=MAX_BOTS)

    @property
    def rule(self) -> tuple[object, ...]:
        """What has to be equal so that scores can be compared: the model, and how scores are made of likelihoods."""
        scorer = self.scorer.model_copy(update={"model": "", "revision": None, "dimensions": None})
        return self.model_sha256, self.level, self.dimensions, scorer


class RankingIn(Wire):
    """References to rank a score set's bots beside."""

    references: tuple[ScoreReference, ...] = Field(min_length=1, max_length=MAX_REFERENCES)


class RankingBesideOut(Wire):
    """A ranking of the bots of a score set and of bots that are not here. Length baselines are of its own bots."""

    dimensions: tuple[DimensionScoresOut, ...] = Field(max_length=MAX_DIMENSIONS)
    absent: tuple[str, ...] = Field(max_length=MAX_BOTS * MAX_REFERENCES, description="Bots of the references.")
