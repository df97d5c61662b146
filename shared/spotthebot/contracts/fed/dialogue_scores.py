"""What the scores of single dialogues say: summaries by partner, the stability of the order, and unfair pools."""

from uuid import UUID

from pydantic import Field

from spotthebot.contracts.analytics.analyses import StabilityPoint
from spotthebot.contracts.fed.score_jobs import MAX_BOTS
from spotthebot.contracts.wire import Wire

MAX_SIZES = 50


class PartnerScoreOut(Wire):
    """A bot's mean score over its dialogues with one partner."""

    partner: str
    score: float
    low: float | None
    high: float | None
    reason: str | None = Field(description="Why there is no interval; null where there is one.")
    rank_low: int = Field(description="Of the partner, by the bot's scores with it; the ranges hold at once.")
    rank_high: int
    dialogues: int = Field(description="Of different texts.")
    example: UUID = Field(description="The conversation whose score is closest to the mean.")


class PartnerScoresOut(Wire):
    """The scores of one bot by partner (Sato et al. 2022, section 6.3), highest first."""

    score_set_id: UUID
    bot: str
    dimension: str
    partners: tuple[PartnerScoreOut, ...] = Field(max_length=MAX_BOTS)
    confidence_level: float
    method: str


class OrderStabilityOut(Wire):
    """How many dialogues of each pair it takes until new dialogues rank the bots in the same order."""

    score_set_id: UUID
    dimension: str
    points: tuple[StabilityPoint, ...] = Field(max_length=MAX_SIZES)
    first_stable: int | None = Field(description="The first size at which 95 % of the samples agree.")
    stable_from: int | None = Field(description="The size from which on 95 % always agree.")
    samples: int
    seed: int
    method: str
    reason: str | None


class FavouredBotOut(Wire):
    """A favoured bot's lead over the unfavoured bot; it wins with a lead above 0."""

    bot: str
    fair_lead: float
    unfair_lead: float
    p_value: float = Field(description="Of a gain in the lead at least as large by chance.")
    p_adjusted: float = Field(description="In the family of all favoured bots (Holm).")


class UnfairPoolOut(Wire):
    """How choosing the pool of bots changes who wins (Sato et al. 2022, Table 6)."""

    score_set_id: UUID
    dimension: str
    unfavoured: str
    similar: tuple[str, ...] = Field(max_length=MAX_BOTS)
    wins_both: int = Field(description="Favoured bots that win in the fair and in the unfair pool.")
    wins_fair_only: int
    wins_unfair_only: int = Field(description="Flips to the favoured bot.")
    wins_neither: int
    p_value: float = Field(description="Of at least as many flips to favoured bots, less those away, by chance.")
    favoured: tuple[FavouredBotOut, ...] = Field(max_length=MAX_BOTS)
    resamples: int
    seed: int
    method: str


class ScoreDifferenceOut(Wire):
    """The mean score of a bot minus that of a baseline, over pairs of dialogues at the same place of one plan."""

    score_set_id: UUID
    baseline_id: UUID
    dimension: str
    score: float
    baseline: float
    estimate: float = Field(description="`score` less `baseline`.")
    low: float | None = Field(description="One-sided: the difference is above it at the confidence level.")
    high: float | None = Field(description="One-sided: the difference is below it at the confidence level.")
    reason: str | None = Field(description="Why there are no bounds; null where there are.")
    detectable: float | None = Field(
        description="About the smallest loss for which `high` is below 0 with a probability of 80 %."
    )
    pairs: int
    openings: int = Field(description="Different openings of the pairs; 0 where conversations have none.")
    left_out: int = Field(description="Conversations of the plan without a score on either side.")
    confidence_level: float
    resamples: int
    seed: int
    method: str
