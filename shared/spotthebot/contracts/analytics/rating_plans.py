"""Plans of studies that compare bots by ratings or behaviours: dialogues, annotators and power."""

from typing import Annotated, Literal

from pydantic import Field

from spotthebot.contracts.levels import MAX_LEVEL, MIN_LEVEL
from spotthebot.contracts.wire import Wire

_MAX_EFFECTS = 100
_Share = Annotated[float, Field(ge=MIN_LEVEL, le=MAX_LEVEL)]


class PlannedTest(Wire):
    """The power that a planned test should have, and the level of all tests of the study."""

    power: float = Field(default=0.8, ge=MIN_LEVEL, le=MAX_LEVEL, description="Of the test of each pair of bots.")
    significance_level: float = Field(
        default=0.05,
        ge=MIN_LEVEL,
        le=MAX_LEVEL,
        description="Of all pairs together: it is shared out over their tests.",
    )


class RatingEffect(Wire):
    """The difference of two bots' mean ratings."""

    kind: Literal["rating"]
    d: float = Field(ge=0, le=100, description="Cohen's d: the difference in standard deviations of one bot's ratings.")


class BehaviourEffect(Wire):
    """The shares of two bots' turns, or dialogues, that show a behaviour."""

    kind: Literal["behaviour"]
    share: _Share
    other_share: _Share


Effect = Annotated[RatingEffect | BehaviourEffect, Field(discriminator="kind")]


class RatingPlanningIn(PlannedTest):
    """A request to plan a study of ratings or behaviours, before any data exist.

    The answer has the fewest dialogues of each bot. If the request gives the dialogues, the answer has the power.
    """

    kind: Literal["rating_planning"] = "rating_planning"
    effects: tuple[Effect, ...] = Field(
        min_length=1, max_length=_MAX_EFFECTS, description="Differences between two bots; each has its own answer."
    )
    bots: int = Field(default=2, ge=2, le=1000, description="The study compares all pairs of these.")
    dialogues: int | None = Field(
        default=None, ge=2, le=1_000_000, description="Of each bot. By default as many as the power takes."
    )
    annotations_per_dialogue: float = Field(
        default=1, ge=1, le=1000, description="1.25 if every fourth dialogue has two annotators."
    )
    values_per_annotation: float = Field(
        default=1, ge=1, le=1000, description="1 for a rating of the dialogue; of turns, the bot's turns in a dialogue."
    )
    dialogue_correlation: float = Field(
        default=0.19,
        ge=0,
        lt=1,
        description="Intraclass, of values of one dialogue. By default the largest of ABC-Eval's nine behaviours.",
    )
    annotator_correlation: float = Field(
        default=0.09,
        ge=0,
        lt=1,
        description="Of values that one annotator gave one bot in different dialogues, beyond leniency with all bots."
        " By default that of Spot The Bot.",
    )
    annotators: int | None = Field(
        default=None,
        ge=2,
        le=1_000_000,
        description="How many share the work. By default as many as the work takes.",
    )
    annotations_per_annotator: float = Field(
        default=1,
        ge=1,
        le=1_000_000,
        description="Without `annotators`. By default 1: independent annotators.",
    )


class EffectPlan(Wire):
    """The numbers of dialogues and annotators for one effect, and the power that they have."""

    kind: Literal["rating", "behaviour"]
    d: float = Field(description="The effect in standard deviations; of shares p the variance is p (1 - p).")
    share: float | None
    other_share: float | None
    dialogues: int | None = Field(description="Of each bot.")
    annotators: int | None = Field(description="Of the study.")
    power: float | None = Field(description="With this number of dialogues.")
    design_effect: float | None = Field(description="By how much clusters inflate the variance of the difference.")
    reason: str | None = Field(description="Why there is no number.")


class RatingPlan(PlannedTest):
    """How many dialogues of each bot a study of ratings or behaviours takes, or which power it has."""

    bots: int
    annotations_per_dialogue: float
    values_per_annotation: float
    dialogue_correlation: float
    annotator_correlation: float
    annotations_per_annotator: float | None = Field(description="Null if the request gave the annotators.")
    method: str
    dialogues_per_bot: int | None = Field(description="Enough for every effect that has a number.")
    annotators: int | None = Field(description="For as many dialogues of each bot.")
    effects: tuple[EffectPlan, ...] = Field(max_length=_MAX_EFFECTS)
