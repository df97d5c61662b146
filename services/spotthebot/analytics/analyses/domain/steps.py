"""Divides an analysis into steps.

Each step is computed separately, and the results of the steps are assembled into one result.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, Protocol

from spotthebot.analytics.analyses.domain.rating_plans import plan_ratings
from spotthebot.analytics.labels.domain import Sample
from spotthebot.analytics.labels.errors import NoBotsMet, OneBotOnly
from spotthebot.analytics.stats import sample_size, stability
from spotthebot.analytics.stats.more_data import plan_more
from spotthebot.analytics.stats.pair_power import PLANNED_TEST, Design
from spotthebot.analytics.stats.sample_size import plan_annotators, plan_conversations
from spotthebot.analytics.stats.stability import RankRule, stability_at, stability_curve, stability_sizes, without_bot
from spotthebot.analytics.stats.wins import Games, Unit, play_games
from spotthebot.contracts.analytics.analyses import (
    AnalysisIn,
    MoreDataIn,
    PairPlan,
    Plan,
    PlanningIn,
    Stability,
    StabilityCurve,
    StabilityIn,
    StabilityParameters,
    StabilityPoint,
)
from spotthebot.contracts.analytics.rating_plans import RatingPlan, RatingPlanningIn


class AnalysisSteps(Protocol):
    """An analysis, divided into numbered steps."""

    @property
    def steps(self) -> int: ...

    def compute(self, step: int) -> Mapping[str, Any]:
        """Return the result of one step, as JSON."""

    def assemble(self, results: Sequence[Mapping[str, Any]]) -> Stability | Plan | RatingPlan:
        """Return the result of the analysis. `results` has the results of all steps in order."""


def divide(request: AnalysisIn, sample: Sample | None) -> AnalysisSteps:
    """Divide an analysis into steps; raises OneBotOnly and NoBotsMet if it compares bots.

    `sample` is None for a plan without data.
    """
    if isinstance(request, PlanningIn):
        return _OneStep(Plan, partial(_plan_ahead, request))
    if isinstance(request, RatingPlanningIn):
        return _OneStep(RatingPlan, partial(plan_ratings, request))
    if sample is None:
        message = f"{request.kind} takes data"
        raise TypeError(message)
    if isinstance(request, StabilityIn):
        return StabilitySteps(
            StabilityParameters(**request.model_dump(include={*StabilityParameters.model_fields})), sample
        )
    return _OneStep(Plan, partial(_plan_more, request, _games(sample, Unit(request.unit))))


def _games(sample: Sample, unit: Unit) -> Games:
    games = play_games(sample.table, unit=unit)
    if len(games.bots) < 2:
        raise OneBotOnly(bots=len(games.bots))
    if not sample.table.has_games:
        raise NoBotsMet
    return games


class StabilitySteps:
    """The stability of a ranking.

    There is a step for each size, with all bots and without each bot; raises OneBotOnly and NoBotsMet.
    """

    def __init__(self, request: StabilityParameters, sample: Sample) -> None:
        self._request = request
        games = _games(sample, Unit.CONVERSATION)
        curves: list[tuple[str | None, Games]] = [(None, games)]
        if request.leave_one_out and len(games.bots) > 2:
            curves += [(bot, without_bot(games, bot)) for bot in games.bots]
        self._curves = curves
        self._steps = [(at, size) for at, (_, rest) in enumerate(curves) for size in stability_sizes(rest)]

    @property
    def steps(self) -> int:
        return len(self._steps)

    def compute(self, step: int) -> Mapping[str, Any]:
        curve, size = self._steps[step]
        point = stability_at(
            self._curves[curve][1],
            size,
            rule=RankRule(self._request.rule),
            n_subsets=self._request.subsets,
            n_resamples=self._request.resamples,
            seed=self._request.seed,
        )
        return asdict(point)

    def assemble(self, results: Sequence[Mapping[str, Any]]) -> Stability:
        curves = []
        for at, (without, _) in enumerate(self._curves):
            points = [_point(result) for (of, _), result in zip(self._steps, results, strict=True) if of == at]
            curve = stability_curve(points)
            curves.append(
                StabilityCurve(
                    without=without,
                    points=tuple(
                        StabilityPoint(
                            conversations=point.size,
                            rate=point.estimate,
                            low=point.low,
                            high=point.high,
                            clusters=point.clusters,
                        )
                        for point in curve.points
                    ),
                    first_stable=curve.first_stable,
                    stable_from=curve.stable_from,
                )
            )
        request = self._request
        return Stability(rule=request.rule, subsets=request.subsets, resamples=request.resamples, curves=tuple(curves))


class _OneStep:
    """A plan, computed in one step."""

    steps = 1

    def __init__(self, kind: type[Plan | RatingPlan], plan: Callable[[], Plan | RatingPlan]) -> None:
        self._kind, self._plan = kind, plan

    def compute(self, step: int) -> Mapping[str, Any]:
        del step
        return self._plan().model_dump(mode="json")

    def assemble(self, results: Sequence[Mapping[str, Any]]) -> Plan | RatingPlan:
        return self._kind.model_validate(results[0])


def _plan_ahead(request: PlanningIn) -> Plan:
    design = Design(**request.model_dump(include={*Design.__dataclass_fields__}))
    is_given = request.conversations is not None
    plans = (_plan_of(rate, design, request) for rate in request.win_rates)
    pairs = [
        PairPlan.of(plan, bot=None, other=None, low=None, high=None, more=None if is_given else plan.conversations)
        for plan in plans
    ]
    return _plan(pairs, design, request, confidence_level=None, counted=request.annotators is not None or is_given)


def _plan_of(rate: float, design: Design, request: PlanningIn) -> sample_size.PairPlan:
    level, pairs = request.significance_level, len(request.win_rates)
    if request.conversations is None:
        return plan_conversations(rate, design, power=request.power, significance_level=level, n_pairs=pairs)
    return plan_annotators(
        rate, request.conversations, design, power=request.power, significance_level=level, n_pairs=pairs
    )


def _plan_more(request: MoreDataIn, games: Games) -> Plan:
    level = request.confidence_level
    plan = plan_more(games, power=request.power, significance_level=request.significance_level, confidence_level=level)
    pairs = [PairPlan.of(pair) for pair in plan.pairs]
    return _plan(pairs, plan.design, request, confidence_level=level, counted=False)


def _plan(
    pairs: Sequence[PairPlan],
    design: Design,
    request: PlanningIn | MoreDataIn,
    *,
    confidence_level: float | None,
    counted: bool,
) -> Plan:
    return Plan(
        tie_rate=design.tie_rate,
        annotations_per_conversation=design.annotations_per_conversation,
        conversation_correlation=design.conversation_correlation,
        annotator_correlation=design.annotator_correlation,
        annotations_per_annotator=None if counted else design.annotations_per_annotator,
        annotators_per_game=design.annotators_per_game,
        method=PLANNED_TEST,
        power=request.power,
        significance_level=request.significance_level,
        confidence_level=confidence_level,
        conversations_per_pair=max((each.conversations for each in pairs if each.conversations), default=None),
        annotators=max((each.annotators for each in pairs if each.annotators), default=None),
        pairs=tuple(pairs),
    )


def _point(result: Mapping[str, Any]) -> stability.StabilityPoint:
    clusters = tuple(tuple(cluster) for cluster in result["clusters"])
    return stability.StabilityPoint(**{**result, "clusters": clusters, "rule": RankRule(result["rule"])})
