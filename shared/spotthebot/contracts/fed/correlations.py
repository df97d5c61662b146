"""How scores agree with the annotations and ratings of people."""

from typing import Literal
from uuid import UUID

from pydantic import Field

from spotthebot.contracts.fed.dimensions import MAX_DIMENSIONS
from spotthebot.contracts.wire import Wire

CorrelationLevel = Literal["turn", "dialogue", "system"]


class CorrelationOut(Wire):
    """A correlation coefficient, or the difference of two coefficients. It is null with a reason if it is undefined."""

    estimate: float | None
    low: float | None
    high: float | None
    p_value: float | None
    n: int
    n_dialogues: int = Field(
        description="Dialogues of different texts, left out in turn for the interval; of systems, the systems."
    )
    n_annotators: int | None = Field(description="People who rated, left out in turn as well.")
    degrees_of_freedom: float | None = Field(description="Of Student's t in the interval; null without one.")
    method: str
    reason: str | None


class DimensionCorrelationsOut(Wire):
    """One dimension: how its scores correlate with the ratings, and how length correlates with the ratings."""

    dimension: str
    spearman: CorrelationOut
    kendall: CorrelationOut
    length_spearman: CorrelationOut = Field(description="Of the length of the contexts with the same ratings.")
    given_length: CorrelationOut = Field(description="Spearman's at equal length.")
    lead_over_length: CorrelationOut = Field(description="Spearman's of the scores less that of length.")


class SplitHalfOut(Wire):
    """How well two halves of the annotators agree. No score can agree better (Sato et al. 2022, footnote 4)."""

    estimate: float | None
    all_raters: float | None = Field(description="What two groups as large as all annotators would reach.")
    n: int
    splits: int
    method: str
    reason: str | None


class CorrelationsOut(Wire):
    """The scores of a score set, compared with people's annotations or ratings."""

    score_set_id: UUID
    campaign_id: UUID | None = Field(description="Null for the ratings of people who chatted with the bots.")
    rated: str
    level: CorrelationLevel
    confidence_level: float
    dimensions: tuple[DimensionCorrelationsOut, ...] = Field(max_length=MAX_DIMENSIONS)
    ceiling: SplitHalfOut
