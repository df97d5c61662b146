"""Plans a study on this machine, as `analytics` does, without any service."""

from spotthebot.analytics.analyses.domain.rating_plans import plan_ratings
from spotthebot.analytics.analyses.domain.steps import divide
from spotthebot.contracts.analytics.analyses import Plan, PlanningIn
from spotthebot.contracts.analytics.rating_plans import RatingPlan, RatingPlanningIn


def plan_preference_study(request: PlanningIn) -> Plan:
    """Plan the conversations and annotators that show win rates."""
    return Plan.model_validate(divide(request, None).compute(0))


def plan_rating_study(request: RatingPlanningIn) -> RatingPlan:
    """Plan the dialogues and annotators that show differences of ratings or behaviours."""
    return plan_ratings(request)
