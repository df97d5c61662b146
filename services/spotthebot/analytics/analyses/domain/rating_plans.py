"""Plans studies of ratings and behaviours: the fewest dialogues of each bot, or the power of a number of dialogues."""

from spotthebot.analytics.stats.rating_power import PLANNED_RATING_TEST, RatingDesign, effect_of_shares
from spotthebot.analytics.stats.rating_sample_size import plan_dialogues, plan_power
from spotthebot.contracts.analytics.rating_plans import (
    BehaviourEffect,
    Effect,
    EffectPlan,
    RatingEffect,
    RatingPlan,
    RatingPlanningIn,
)


def plan_ratings(request: RatingPlanningIn) -> RatingPlan:
    """Plan each effect of a request."""
    design = RatingDesign(**request.model_dump(include={*RatingDesign.__dataclass_fields__}))
    effects = tuple(_plan(effect, request, design) for effect in request.effects)
    return RatingPlan(
        power=request.power,
        significance_level=request.significance_level,
        bots=design.bots,
        annotations_per_dialogue=design.annotations_per_dialogue,
        values_per_annotation=design.values_per_annotation,
        dialogue_correlation=design.dialogue_correlation,
        annotator_correlation=design.annotator_correlation,
        annotations_per_annotator=design.annotations_per_annotator if design.annotators is None else None,
        method=PLANNED_RATING_TEST,
        dialogues_per_bot=max((each.dialogues for each in effects if each.dialogues), default=None),
        annotators=max((each.annotators for each in effects if each.annotators), default=None),
        effects=effects,
    )


def _plan(effect: Effect, request: RatingPlanningIn, design: RatingDesign) -> EffectPlan:
    shares = (effect.share, effect.other_share) if isinstance(effect, BehaviourEffect) else None
    d = effect.d if isinstance(effect, RatingEffect) else effect_of_shares(effect.share, effect.other_share)
    level = request.significance_level
    plan = (
        plan_dialogues(d, design, power=request.power, significance_level=level)
        if request.dialogues is None
        else plan_power(d, request.dialogues, design, significance_level=level)
    )
    share, other_share = shares or (None, None)
    return EffectPlan.of(plan, kind=effect.kind, d=d, share=share, other_share=other_share)
