"""Plans how many dialogues tell two bots apart by ratings or behaviours, before there are data."""

from dataclasses import dataclass, replace

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import require_level
from spotthebot.analytics.stats.rating_power import (
    DEFAULT_RATING_DESIGN,
    MAX_DIALOGUES,
    PLANNED_RATING_TEST,
    RatingDesign,
    rating_power,
    rating_powers,
    require_effect,
)
from spotthebot.analytics.stats.sample_size import EVEN, fewest


@dataclass(frozen=True)
class RatingPlan:
    """The dialogues of each bot, and the annotators of a study of all bots, with the `power` to find an effect.

    `requested_power` is None if the number of dialogues was given. If no number of dialogues has the requested power,
    there is none, with a `reason`.
    """

    effect: float
    dialogues: int | None
    annotators: int | None
    power: float | None
    requested_power: float | None
    significance_level: float
    bots: int
    design_effect: float | None
    method: str
    reason: str | None


def plan_power(
    effect: float, dialogues: int, design: RatingDesign = DEFAULT_RATING_DESIGN, *, significance_level: float = 0.05
) -> RatingPlan:
    """Return the plan of a study with this number of dialogues of each bot, whose power is `rating_power`.

    Raises `SettingOutOfRange`.

    >>> plan = plan_power(0.4, 100, RatingDesign(annotators=40))
    >>> plan.annotators, round(plan.power or 0, 2)
    (40, 0.7)
    """
    return RatingPlan(
        effect=effect,
        dialogues=dialogues,
        annotators=design.annotators_needed(dialogues),
        power=rating_power(effect, dialogues, design, significance_level=significance_level),
        requested_power=None,
        significance_level=significance_level,
        bots=design.bots,
        design_effect=design.design_effect(dialogues),
        method=PLANNED_RATING_TEST,
        reason=None,
    )


def plan_dialogues(
    effect: float,
    design: RatingDesign = DEFAULT_RATING_DESIGN,
    *,
    power: float = 0.8,
    significance_level: float = 0.05,
) -> RatingPlan:
    """Return the fewest dialogues of each bot with which a test finds this effect (Cohen's d) with the requested power.

    The number of annotators grows with the dialogues, unless the design fixes it. Then perhaps no number of dialogues
    is enough. Raises `SettingOutOfRange`.

    >>> plan = plan_dialogues(0.4)
    >>> plan.dialogues, plan.annotators
    (100, 200)
    >>> plan_dialogues(0.4, RatingDesign(annotators=4)).reason
    'no number of dialogues is enough for 4 annotators: only more annotators are'
    """
    require_effect(effect)
    require_level("power", power)
    require_level("significance_level", significance_level)

    def powers(dialogues: IntArray) -> FloatArray:
        return rating_powers(effect, dialogues, design, significance_level)

    found = None if effect == 0 else fewest(powers, power, MAX_DIALOGUES)
    if found is not None:
        plan = plan_power(effect, found, design, significance_level=significance_level)
        return replace(plan, requested_power=power)
    return RatingPlan(
        effect=effect,
        dialogues=None,
        annotators=design.annotators,
        power=None,
        requested_power=power,
        significance_level=significance_level,
        bots=design.bots,
        design_effect=None,
        method=PLANNED_RATING_TEST,
        reason=EVEN if effect == 0 else _reason(effect, design, power, significance_level),
    )


def _reason(effect: float, design: RatingDesign, power: float, significance_level: float) -> str:
    independent = replace(design, annotators=None, annotations_per_annotator=1.0)
    reached = rating_power(effect, MAX_DIALOGUES, independent, significance_level=significance_level) >= power
    if design.annotators is None or not reached:
        return f"{MAX_DIALOGUES:,} dialogues are not enough"
    return f"no number of dialogues is enough for {design.annotators} annotators: only more annotators are"
