"""How long bots pass unnoticed, and what gives them away."""

from pydantic import Field

from spotthebot.contracts.wire import Wire


class SurvivalCurve(Wire):
    """The share of times a bot is not yet spotted, at each of `Survival.times`."""

    bot: str
    survival: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    inspected: tuple[int, ...]
    spotted: tuple[int, ...]


class LogRank(Wire):
    """Whether two survival curves differ."""

    bot: str
    other: str
    statistic: float | None
    p_value: float | None
    p_adjusted: float | None
    significant: bool
    reason: str | None = Field(description="Why there is no test.")


class CoxCoefficient(Wire):
    """How a feature changes the hazard of being spotted; below 0 the bot that has it lasts longer."""

    bot: str
    feature: str
    coefficient: float | None
    standard_error: float | None
    low: float | None
    high: float | None
    p_value: float | None
    clustered_standard_error: float | None = Field(description="Sandwich over annotators.")
    separated: bool = Field(description="Whether Firth's penalty was needed for a finite estimate.")
    reason: str | None = Field(description="Why there is no estimate.")


class Survival(Wire):
    """How long bots pass."""

    times: tuple[int, ...] = Field(description="Exchanges seen.")
    method: str
    curves: tuple[SurvivalCurve, ...]
    log_rank: tuple[LogRank, ...]
    cox: tuple[CoxCoefficient, ...]
