"""How long bots stay unspotted, and which features shorten that time."""

from pydantic import Field

from spotthebot.contracts.analytics.bounds import MAX_BOTS, MAX_LENGTHS, MAX_PAIRS
from spotthebot.contracts.analytics.differences import Differences
from spotthebot.contracts.analytics.provenance import Uncertainty
from spotthebot.contracts.names import HUMAN_NAME
from spotthebot.contracts.wire import Wire


class SurvivalCurve(Wire):
    """The share of inspections at which a bot was not yet spotted, at each of `Survival.times`."""

    bot: str
    survival: tuple[float | None, ...] = Field(max_length=MAX_LENGTHS, description="A share from 0 to 1.")
    low: tuple[float | None, ...] = Field(max_length=MAX_LENGTHS)
    high: tuple[float | None, ...] = Field(max_length=MAX_LENGTHS)
    inspected: tuple[int, ...] = Field(
        max_length=MAX_LENGTHS, description="Labels by annotators who saw as many exchanges."
    )
    spotted: tuple[int, ...] = Field(max_length=MAX_LENGTHS, description="Those that are `bot`.")
    uncertainty: tuple[Uncertainty | None, ...] = Field(
        max_length=MAX_LENGTHS, description="Null where this bot was not inspected."
    )


class LogRank(Wire):
    """The log-rank test of whether two survival curves differ."""

    bot: str
    other: str
    score: float = Field(description="Above 0 where `bot` is spotted sooner than `other`.")
    statistic: float | None = Field(
        description="F with 1 and the uncertainty's degrees of freedom; chi-squared with 1 where it has none."
    )
    p_value: float | None
    p_adjusted: float | None = Field(description="After the correction within the family.")
    significant: bool
    method: str
    family: str = Field(description="Which pairs are corrected together.")
    family_size: int = Field(description="How many pairs of the family could be tested.")
    uncertainty: Uncertainty = Field(description="Its standard error is that of the score.")
    reason: str | None = Field(description="Why there is no test.")


class CoxCoefficient(Wire):
    """How a feature changes the hazard of being spotted. Below 0, a bot with the feature stays unspotted longer."""

    bot: str
    feature: str = Field(description="`fluency`, `sensibleness` or `specificity`.")
    coefficient: float | None = Field(description="Log hazard ratio for a step of the feature's lead: -1, 0, 1.")
    standard_error: float | None = Field(description="On which the interval and the p-value stand.")
    low: float | None
    high: float | None
    p_value: float | None
    model_standard_error: float | None = Field(description="From the likelihood, annotations taken for independent.")
    clustered_standard_error: float | None = Field(description="From the annotations that vary together.")
    uncertainty: Uncertainty
    separated: bool = Field(description="Whether Firth's penalty was needed for a finite estimate.")
    reason: str | None = Field(description="Why there is no estimate.")


class Survival(Wire):
    """How long bots stay unspotted."""

    times: tuple[int, ...] = Field(max_length=MAX_LENGTHS, description="Exchanges seen.")
    method: str
    curves: tuple[SurvivalCurve, ...] = Field(max_length=MAX_BOTS)
    log_rank: tuple[LogRank, ...] = Field(max_length=MAX_PAIRS)
    cox: tuple[CoxCoefficient, ...] = Field(max_length=MAX_PAIRS)

    @property
    def between_bots(self) -> tuple[LogRank, ...]:
        """Return the tests that compare two bots and could be computed.

        Leave out the tests that compare a bot with people.
        """
        return tuple(
            each for each in self.log_rank if each.p_adjusted is not None and HUMAN_NAME not in {each.bot, each.other}
        )

    @property
    def differences(self) -> Differences:
        """Return the number of pairs of bots that log-rank tests tell apart."""
        tests = self.between_bots
        return Differences(shown=sum(each.significant for each in tests), pairs=len(tests))
