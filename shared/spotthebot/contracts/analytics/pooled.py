"""Results pooled over several campaigns of one protocol: means over campaigns, such as the domains of Spot The Bot."""

from uuid import UUID

from pydantic import Field, field_validator

from spotthebot.contracts.analytics.bounds import MAX_PAIRS
from spotthebot.contracts.analytics.choices import PooledResult
from spotthebot.contracts.analytics.provenance import AnnotatorCounts, ParametersIn, Settings, Uncertainty
from spotthebot.contracts.wire import Wire

MAX_POOLED = 50


class PooledParametersIn(ParametersIn):
    """Which campaigns to pool, and how to analyse them."""

    result: PooledResult = Field(default="agreement", description="What to pool.")
    campaigns: tuple[UUID, ...] = Field(
        min_length=2, max_length=MAX_POOLED, description="Campaigns with the same version of a protocol, each once."
    )

    @field_validator("campaigns")
    @classmethod
    def _differ(cls, ids: tuple[UUID, ...]) -> tuple[UUID, ...]:
        if len(set(ids)) < len(ids):
            message = "a campaign is named twice: name each once"
            raise ValueError(message)
        return ids


class PooledCampaign(AnnotatorCounts):
    """A campaign that was pooled."""

    campaign_id: UUID | None = Field(description="Null where the data came from a file.")
    campaign: str
    domain: str
    annotations: int
    data_sha256: str


class PooledEstimate(Wire):
    """The mean of one estimate over the campaigns that have it."""

    bot: str
    other: str | None = Field(description="Of a pair the other bot; null of all others together.")
    subject: str | None = Field(
        description="Of agreement the label, of measures the measure, of survival the feature of Cox's regression; else"
        " null."
    )
    exchanges: int | None = Field(
        description="Of agreement at one length, and of a point of a survival curve: the exchanges seen; else null."
    )
    estimate: float = Field(
        description="Of pairs the win rate; in `ranking` the difference of mean win rates, in `survival` the score of"
        " the log-rank test, above 0 where `bot` is spotted sooner. Of features the log hazard ratio."
    )
    low: float | None
    high: float | None
    p_value: float | None = Field(
        description="Of pairs that they do not differ, of features that they do nothing; two-sided. Else null."
    )
    p_adjusted: float | None = Field(description="For the number of pairs; null of features.")
    rank_low: int | None = Field(
        description="In `ranking`: best rank of a set of ranks that hold for all bots together; else null."
    )
    rank_high: int | None
    p_differ: float | None = Field(
        description="That the campaigns have the same value, by Welch's test; null but of a speaker's rate in"
        " `fooling-rates` and `win-rates`."
    )
    p_differ_adjusted: float | None = Field(description="For the number of speakers.")
    n: int = Field(description="Labels, decided games or values.")
    uncertainty: Uncertainty
    by_campaign: tuple[float | None, ...] = Field(
        max_length=MAX_POOLED, description="The estimate of each campaign, in the order of `campaigns`."
    )


class PooledOut(Settings):
    """One result of several campaigns, and its mean over them."""

    result: PooledResult
    protocol: str
    campaigns: tuple[PooledCampaign, ...] = Field(max_length=MAX_POOLED)
    estimates: tuple[PooledEstimate, ...] = Field(max_length=MAX_PAIRS)
    method: str
    p_differ: float | None = Field(
        description="That no speaker has another value in another campaign: the smallest `p_differ_adjusted`."
    )
    reason: str | None = Field(description="Why no bot has a rank, where ranks were asked for.")
    preliminary: bool = Field(description="Whether annotations are still missing.")
    version: str = Field(description="Of the software.")
