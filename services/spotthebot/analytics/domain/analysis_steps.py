"""Analyses in steps: each step is computed by itself, and the results of all steps make the result."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Protocol

from spotthebot.analytics import stats
from spotthebot.analytics.domain.errors import OneBotOnly
from spotthebot.analytics.domain.study import Sample
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


class AnalysisSteps(Protocol):
    """An analysis as numbered steps."""

    @property
    def steps(self) -> int: ...

    def compute(self, step: int) -> Mapping[str, Any]:
        """Return the result of one step, as JSON."""

    def assemble(self, results: Sequence[Mapping[str, Any]]) -> Stability | Plan:
        """Make the analysis's result of the results of all steps, in their order."""


def divide(request: AnalysisIn, sample: Sample | None) -> AnalysisSteps:
    """Divide an analysis into steps; raises OneBotOnly where bots would be compared. A plan ahead takes no sample."""
    if isinstance(request, PlanningIn):
        return _PlanAhead(request)
    if sample is None:
        message = f"{request.kind} takes data"
        raise TypeError(message)
    if isinstance(request, StabilityIn):
        return StabilitySteps(
            StabilityParameters(**request.model_dump(include={*StabilityParameters.model_fields})), sample
        )
    return _PlanMore(request, sample)


class StabilitySteps:
    """The stability of a ranking, a step for each size and each bot that is left out; raises OneBotOnly."""

    def __init__(self, request: StabilityParameters, sample: Sample) -> None:
        self._request = request
        games = stats.play_games(sample.table, unit=stats.Unit.CONVERSATION)
        if len(games.bots) < 2:
            raise OneBotOnly(bots=len(games.bots))
        curves: list[tuple[str | None, stats.Games]] = [(None, games)]
        if request.leave_one_out and len(games.bots) > 2:
            curves += [(bot, stats.without_bot(games, bot)) for bot in games.bots]
        self._curves = curves
        self._steps = [(at, size) for at, (_, rest) in enumerate(curves) for size in stats.stability_sizes(rest)]

    @property
    def steps(self) -> int:
        return len(self._steps)

    def compute(self, step: int) -> Mapping[str, Any]:
        curve, size = self._steps[step]
        point = stats.stability_at(
            self._curves[curve][1],
            size,
            rule=stats.RankRule(self._request.rule),
            n_subsets=self._request.subsets,
            n_resamples=self._request.resamples,
            seed=self._request.seed,
        )
        return asdict(point)

    def assemble(self, results: Sequence[Mapping[str, Any]]) -> Stability:
        curves = []
        for at, (without, _) in enumerate(self._curves):
            points = [_point(result) for (of, _), result in zip(self._steps, results, strict=True) if of == at]
            curve = stats.stability_curve(points)
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


class _PlanAhead:
    steps = 1

    def __init__(self, request: PlanningIn) -> None:
        self._request = request

    def compute(self, step: int) -> Mapping[str, Any]:
        del step
        request = self._request
        design = stats.Design(
            tie_rate=request.tie_rate,
            annotations_per_conversation=request.annotations_per_conversation,
            conversation_correlation=request.conversation_correlation,
            annotator_correlation=request.annotator_correlation,
            annotators=request.annotators,
            annotations_per_annotator=request.annotations_per_annotator,
        )
        pairs = [_ahead(self._plan(rate, design), found=request.conversations is None) for rate in request.win_rates]
        counted = request.annotators is not None or request.conversations is not None
        return _plan(pairs, design, request, confidence_level=None, counted=counted)

    def _plan(self, rate: float, design: stats.Design) -> stats.PairPlan:
        request = self._request
        if request.conversations is not None:
            return stats.plan_annotators(
                rate,
                request.conversations,
                design,
                power=request.power,
                significance_level=request.significance_level,
                n_pairs=len(request.win_rates),
            )
        return stats.plan_conversations(
            rate,
            design,
            power=request.power,
            significance_level=request.significance_level,
            n_pairs=len(request.win_rates),
        )

    def assemble(self, results: Sequence[Mapping[str, Any]]) -> Plan:
        return Plan.model_validate(results[0])


class _PlanMore:
    steps = 1

    def __init__(self, request: MoreDataIn, sample: Sample) -> None:
        self._request = request
        self._games = stats.play_games(sample.table, unit=stats.Unit(request.unit))
        if len(self._games.bots) < 2:
            raise OneBotOnly(bots=len(self._games.bots))

    def compute(self, step: int) -> Mapping[str, Any]:
        del step
        request = self._request
        plan = stats.plan_more(
            self._games,
            power=request.power,
            significance_level=request.significance_level,
            confidence_level=request.confidence_level,
        )
        pairs = [
            PairPlan(
                bot=pair.bot,
                other=pair.other,
                win_rate=pair.win_rate,
                conversations=pair.conversations,
                annotators=pair.annotators,
                low=pair.low,
                high=pair.high,
                more=pair.more,
                design_effect=pair.design_effect,
                reason=pair.reason,
            )
            for pair in plan.pairs
        ]
        return _plan(pairs, plan.design, request, confidence_level=request.confidence_level, counted=False)

    def assemble(self, results: Sequence[Mapping[str, Any]]) -> Plan:
        return Plan.model_validate(results[0])


def _ahead(plan: stats.PairPlan, *, found: bool) -> PairPlan:
    return PairPlan(
        bot=None,
        other=None,
        win_rate=plan.win_rate,
        conversations=plan.conversations,
        annotators=plan.annotators,
        low=None,
        high=None,
        more=plan.conversations if found else None,
        design_effect=plan.design_effect,
        reason=plan.reason,
    )


def _plan(
    pairs: Sequence[PairPlan],
    design: stats.Design,
    request: PlanningIn | MoreDataIn,
    *,
    confidence_level: float | None,
    counted: bool,
) -> Mapping[str, Any]:
    return Plan(
        tie_rate=design.tie_rate,
        annotations_per_conversation=design.annotations_per_conversation,
        conversation_correlation=design.conversation_correlation,
        annotator_correlation=design.annotator_correlation,
        annotations_per_annotator=None if counted else design.annotations_per_annotator,
        annotators_per_game=design.annotators_per_game,
        method=stats.PLANNED_TEST,
        power=request.power,
        significance_level=request.significance_level,
        confidence_level=confidence_level,
        conversations_per_pair=max((each.conversations for each in pairs if each.conversations), default=None),
        annotators=max((each.annotators for each in pairs if each.annotators), default=None),
        pairs=tuple(pairs),
    ).model_dump(mode="json")


def _point(result: Mapping[str, Any]) -> stats.StabilityPoint:
    clusters = tuple(tuple(cluster) for cluster in result["clusters"])
    return stats.StabilityPoint(**{**result, "clusters": clusters, "rule": stats.RankRule(result["rule"])})
