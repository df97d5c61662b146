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
    other: str | None = Field(description="Of the win rate of a pair: the other bot; null of all others together.")
    subject: str | None = Field(description="Of agreement the label, of measures the measure; else null.")
    exchanges: int | None = Field(description="Of agreement at one length: the exchanges seen; null of all lengths.")
    estimate: float
    low: float | None
    high: float | None
    p_value: float | None = Field(description="Of even odds, two-sided; null unless it is a pair's win rate.")
    p_adjusted: float | None = Field(description="For the number of pairs.")
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
    preliminary: bool = Field(description="Whether annotations are still missing.")
    version: str = Field(description="Of the software.")
