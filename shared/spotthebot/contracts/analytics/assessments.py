"""Assesses which measures of dialogues deserve trust, by comparing them with an outcome such as overall quality."""

from pydantic import Field

from spotthebot.contracts.analytics.bounds import MAX_PAIRS
from spotthebot.contracts.analytics.measures import MAX_MEASURES
from spotthebot.contracts.annotation.measures import MeasureLevel
from spotthebot.contracts.wire import Wire

_LEVELS = 3
"""Significance levels: .1, .05 and .01."""


class AssessedAlpha(Wire):
    """Krippendorff's alpha of a measure: whether its annotators understand the question in the same way."""

    estimate: float | None
    low: float | None
    high: float | None
    n: int = Field(description="Units with two values or more.")
    method: str
    reason: str | None = Field(description="Why there is no alpha, or no interval.")


class PublishedSensitivity(Wire):
    """How many pairs of bots a measure tells apart by ABC-Eval's test, with equally many dialogues of each bot."""

    pairs_told_apart: dict[str, int] = Field(max_length=_LEVELS, description="Pairs of bots by significance level.")
    p_values: tuple[float | None, ...] = Field(max_length=MAX_PAIRS, description="Of all pairs of bots in order.")
    n: int = Field(description="Dialogues of each bot, or preferences of each pair, that were drawn.")
    seed: int | None
    method: str


class AssessedMeasure(Wire):
    """How far one measure can be trusted: interpretability, importance, sensitivity and cost."""

    name: str
    level: MeasureLevel = Field(description="What one value is of.")
    n: int = Field(description="Dialogues, or decided pairs of dialogues, with a value and an outcome.")
    alpha: AssessedAlpha
    r2: float | None = Field(description="Of the outcome's value on the measure's; McFadden's where `method` says so.")
    p_value: float | None = Field(description="Of that model's slope, cluster-robust.")
    published_p_value: float | None = Field(description="F or likelihood ratio test: dialogues taken for independent.")
    pairs_told_apart: dict[str, int | None] = Field(
        max_length=_LEVELS,
        description="Pairs of bots that differ at each significance level, by the suite's own test of all values.",
    )
    published: PublishedSensitivity | None
    minutes: float | None = Field(
        description="The median that an annotator takes for one dialogue; null without times."
    )
    method: str = Field(description="Of `r2` and the p-values.")
    pairs_method: str
    reason: str | None = Field(description="Why a number is missing.")


class AssessmentStep(Wire):
    """The best set of measures of one size."""

    left: tuple[str, ...] = Field(max_length=MAX_MEASURES)
    r2: float
    adjusted_r2: float | None = Field(description="Null where there are not more dialogues than measures.")
    removed: str | None = Field(
        description="The measure that one set of the next larger size has beside these; null of the full model."
        " That set need not be the best of its size, so a measure may come back, and be named twice."
    )


class Assessment(Wire):
    """Which measures deserve trust, as ABC-Eval asks (Finch, Finch & Choi 2023, section 7)."""

    outcome: str
    measures: tuple[AssessedMeasure, ...] = Field(max_length=MAX_MEASURES)
    stepwise: tuple[AssessmentStep, ...] = Field(
        max_length=MAX_MEASURES, description="The best set of each size, of all measures first."
    )
    stepwise_n: int = Field(description="Dialogues, or decided pairs, that have all measures.")
    stepwise_method: str
    stepwise_reason: str | None = Field(description="Why there are no steps.")
    keep: tuple[str, ...] = Field(
        max_length=MAX_MEASURES,
        description="The set with the largest adjusted R², less measures whose alpha's interval holds 0.",
    )
    sentences: tuple[str, ...] = Field(max_length=MAX_MEASURES + 3)
