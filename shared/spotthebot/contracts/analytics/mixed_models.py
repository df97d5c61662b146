"""Mixed models of one measure: a form of results that papers print."""

from pydantic import Field

from spotthebot.contracts.analytics.bounds import MAX_BOTS, MAX_PAIRS
from spotthebot.contracts.annotation.protocols import MAX_SCALE_POINTS
from spotthebot.contracts.wire import Wire


class BotEffect(Wire):
    """One bot's effect: its expected value, or its place on the logit scale less the mean of all bots' places."""

    bot: str
    estimate: float | None
    standard_error: float | None
    low: float | None
    high: float | None
    n: int = Field(description="Values.")
    reason: str | None = Field(description="Why there are no numbers.")


class EffectDifference(Wire):
    """The effect of `bot` less that of `other`, with Wald's z test."""

    bot: str
    other: str
    estimate: float | None
    standard_error: float | None
    low: float | None
    high: float | None
    p_value: float | None
    p_adjusted: float | None = Field(description="For the number of pairs.")
    n: int = Field(description="Values of both.")
    reason: str | None = Field(description="Why there is no test.")


class VarianceComponent(Wire):
    """The standard deviation of the random intercepts of one grouping, or of the residuals."""

    grouping: str = Field(description="`dialogue`, `annotator` or `residual`.")
    standard_deviation: float
    n_groups: int
    reason: str | None = Field(description="Says that the deviation is at its bound, 0.")


class MixedModel(Wire):
    """Bots as fixed effects, dialogues and annotators as crossed random intercepts.

    A published form, on which no rank is based: it claims too many differences if annotators differ in their taste for
    bots.
    """

    bots: tuple[BotEffect, ...] = Field(max_length=MAX_BOTS)
    pairs: tuple[EffectDifference, ...] = Field(max_length=MAX_PAIRS)
    components: tuple[VarianceComponent, ...] = Field(max_length=3)
    categories: tuple[float, ...] = Field(
        max_length=MAX_SCALE_POINTS, description="Values that were given; empty of a linear model."
    )
    thresholds: tuple[float, ...] = Field(
        max_length=MAX_SCALE_POINTS, description="Between adjacent categories, for a bot with the effect 0."
    )
    log_likelihood: float | None = Field(description="Restricted of a linear model, else Laplace's approximation.")
    n: int = Field(description="Values of bots.")
    method: str
    reason: str | None = Field(description="Why there is no fit.")
