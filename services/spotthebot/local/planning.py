"""Plans a study on this machine, as `analytics` does, without any service."""

from spotthebot.analytics.analyses.domain.rating_plans import plan_ratings
from spotthebot.analytics.analyses.domain.steps import divide
from spotthebot.analytics.stats.evaluation_cost import evaluation_cost
from spotthebot.contracts.analytics.analyses import Plan, PlanningIn
from spotthebot.contracts.analytics.costs import CostIn, CostOut
from spotthebot.contracts.analytics.rating_plans import RatingPlan, RatingPlanningIn


def plan_preference_study(request: PlanningIn) -> Plan:
    """Plan the conversations and annotators that show win rates."""
    return Plan.model_validate(divide(request, None).compute(0))


def plan_evaluation_cost(request: CostIn) -> CostOut:
    """Compare the hours of annotating conversations with those of chatting."""
    return CostOut.of(evaluation_cost(**dict(request)))


def plan_rating_study(request: RatingPlanningIn) -> RatingPlan:
    """Plan the dialogues and annotators that show differences of ratings or behaviours."""
    return plan_ratings(request)
