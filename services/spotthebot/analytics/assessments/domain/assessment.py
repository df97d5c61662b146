"""Assesses measures against an outcome: which deserve trust, which add information to others, and what each costs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from spotthebot.analytics.assessments.domain.findings import assessment_sentences, holds_zero
from spotthebot.analytics.stats.alpha import Alpha, krippendorff_alpha
from spotthebot.analytics.stats.alpha_bootstrap import BootstrapAlpha, bootstrap_alpha
from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.assessment.importance import Model
from spotthebot.analytics.stats.assessment.sensitivity import (
    LEVELS,
    PublishedTests,
    count_significant,
    published_sign_tests,
    published_tests,
)
from spotthebot.analytics.stats.assessment.subsets import MAX_MEASURES, Stepwise, backward_stepwise
from spotthebot.analytics.stats.disagreement import Measurement
from spotthebot.analytics.stats.rating_differences import RatingDifference, rating_differences
from spotthebot.analytics.stats.rating_estimates import Ratings
from spotthebot.analytics.stats.significance import PairComparison, pair_tests
from spotthebot.analytics.stats.wins import Games, Unit
from spotthebot.analytics.values.domain.assessed_values import Dialogues, MeasuredValues, Target, preferences_of
from spotthebot.analytics.values.domain.measure_values import NO_ANNOTATOR
from spotthebot.contracts.analytics.assessments import (
    AssessedAlpha,
    AssessedMeasure,
    Assessment,
    AssessmentStep,
    PublishedSensitivity,
)
from spotthebot.kit.text.characters import isolated
from spotthebot.statistics.adjustment import Adjustment
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.uncertainty import Clusters

_FEWEST_ROWS: Final = 3
_MAX_LOGISTIC: Final = 10_000_000
"""Rows times squared measures of a stepwise regression of an outcome with two values. It takes about a minute."""
_EXACT: Final = 2**53
"""Whole numbers below it are coded all at once, which takes a tenth of the time."""
_RATINGS: Final = "Student's t of the difference of means"
_PREFERENCES: Final = "Student's t of the win rate, ties dropped"


@dataclass(frozen=True)
class AssessmentSettings:
    """The settings of an assessment: the `clusters` that vary together, and the `adjustment` of pairs' p-values."""

    confidence_level: float = 0.95
    clusters: Clusters = Clusters.BOTH
    adjustment: Adjustment = Adjustment.HOLM
    seed: int = 0


def assess(
    measures: Sequence[MeasuredValues],
    outcome: MeasuredValues,
    dialogues: Dialogues,
    settings: AssessmentSettings | None = None,
) -> Assessment:
    """Assess measures against an outcome of the same dialogues.

    The outcome itself should not be one of the measures.
    """
    settings = settings or AssessmentSettings()
    target = Target.of(outcome, dialogues, settings.clusters)
    predictors = {each.name: target.predictor(each.means(len(dialogues.bot))) for each in measures}
    assessed = tuple(_assessed(each, target, predictors[each.name], dialogues, settings) for each in measures)
    names = [each.name for each in assessed if each.r2 is not None]
    steps = _stepwise(target, [predictors[name] for name in names])
    best = steps.best
    chosen = () if best is None else tuple(names[at] for at in best.left)
    unclear = {each.name for each in assessed if holds_zero(each.alpha)}
    keep = tuple(name for name in chosen if name not in unclear)
    stepwise = tuple(
        AssessmentStep(
            left=tuple(names[at] for at in step.left),
            r2=step.r2,
            adjusted_r2=step.adjusted_r2,
            removed=None if step.removed is None else names[step.removed],
        )
        for step in steps.steps
    )
    return Assessment(
        outcome=outcome.name,
        measures=assessed,
        stepwise=stepwise,
        stepwise_n=steps.n,
        stepwise_method=steps.method,
        stepwise_reason=steps.reason,
        keep=keep,
        sentences=assessment_sentences(outcome.name, assessed, chosen, steps),
    )


def _stepwise(target: Target, predictors: Sequence[FloatArray]) -> Stepwise:
    complete = target.complete(predictors) if predictors else np.zeros(len(target.outcome), dtype=np.bool_)
    n, rows, outcome = int(complete.sum()), "dialogues" if target.second is None else "pairs", isolated(target.name)
    reason = None
    if not predictors:
        reason = f"no measure explains {outcome}"
    elif len(predictors) > MAX_MEASURES:
        reason = f"{len(predictors)} measures are too many, at most {MAX_MEASURES} can be taken together"
    elif n < _FEWEST_ROWS:
        reason = f"{n} {rows} have all measures and {outcome}, which are too few for a model"
    elif target.model is not Model.LINEAR and n * len(predictors) ** 2 > _MAX_LOGISTIC:
        most = _MAX_LOGISTIC // len(predictors) ** 2
        reason = f"{n} {rows} are too many to take {len(predictors)} measures together, at most {most} can be"
    if reason is not None:
        return Stepwise((), n, 0, target.model, target.model.words, reason)
    return backward_stepwise(
        target.outcome[complete], np.column_stack([each[complete] for each in predictors]), model=target.model
    )


def _assessed(
    values: MeasuredValues, target: Target, predictor: FloatArray, dialogues: Dialogues, settings: AssessmentSettings
) -> AssessedMeasure:
    pairs = preferences_of(values, dialogues)
    found = target.importance(predictor)
    alpha = _alpha(values, pairs, dialogues, settings)
    varies = np.any(values.value != values.value[:1])
    counts, published, method = dict.fromkeys(LEVELS), None, "none: the measure does not vary"
    if varies:
        tested = _tested_ratings if pairs is None else _tested_preferences
        p_values, published_found, method = tested(values, pairs, dialogues, settings)
        counts, published = {**count_significant(p_values)}, _published(published_found)
    reasons = [found.reason, None if alpha.reason is None else f"alpha: {alpha.reason}"]
    return AssessedMeasure(
        name=values.name,
        level=values.level if pairs is None else "pair",
        n=found.n,
        alpha=alpha,
        r2=found.estimate,
        p_value=found.p_value,
        published_p_value=found.published_p_value,
        pairs_told_apart=counts,
        published=published,
        minutes=values.minutes,
        method=found.method,
        pairs_method=method,
        reason="; ".join(reason for reason in reasons if reason) or None,
    )


_Pairs = tuple[IntArray, IntArray] | None


def _alpha(values: MeasuredValues, pairs: _Pairs, dialogues: Dialogues, settings: AssessmentSettings) -> AssessedAlpha:
    rows = np.arange(len(values.value)) if pairs is None else pairs[0]
    unit, value = values.unit[rows], values.value[rows]
    if pairs is not None:
        unit = unit * len(dialogues.bot) + values.dialogue[pairs[1]]
    level = Measurement.NOMINAL if np.isin(value, (0.0, 1.0)).all() else Measurement.ORDINAL
    text = dialogues.text[values.dialogue[rows]]
    annotator = None if values.annotator is None else values.annotator[rows]
    confidence = settings.confidence_level
    if np.all((value % 1 == 0) & (np.abs(value) < _EXACT)):
        value = value.astype(np.int64)
    found: BootstrapAlpha | Alpha
    try:
        found = bootstrap_alpha(
            unit,
            value,
            level=level,
            cluster=text,
            annotator=annotator,
            confidence_level=confidence,
            seed=settings.seed,
        )
    except SettingOutOfRange:  # more different values than a bootstrap has memory for
        found = krippendorff_alpha(
            unit, value, level=level, conversation=text, annotator=annotator, confidence_level=confidence
        )
    reason = NO_ANNOTATOR if annotator is None and not found.n else found.reason
    return AssessedAlpha(
        estimate=found.estimate, low=found.low, high=found.high, n=found.n, method=found.method, reason=reason
    )


def _tested_ratings(
    values: MeasuredValues, _: _Pairs, dialogues: Dialogues, settings: AssessmentSettings
) -> tuple[FloatArray, PublishedTests, str]:
    bot, n_bots = dialogues.bot[values.dialogue], len(dialogues.bots)
    clusters = values.clusters(settings.clusters)
    rated, code = np.unique(bot, return_inverse=True)
    ratings = Ratings(
        tuple(dialogues.bots[at] for at in rated), code, dialogues.text[values.dialogue], values.who, values.value
    )
    differences = rating_differences(
        ratings, confidence_level=settings.confidence_level, clusters=clusters, adjustment=settings.adjustment
    )
    published = published_tests(values.value, bot, values.dialogue, n_bots=n_bots, seed=settings.seed)
    return _adjusted(differences), published, f"{_RATINGS}, {clusters.words} ({settings.adjustment})"


def _tested_preferences(
    values: MeasuredValues, pairs: _Pairs, dialogues: Dialogues, settings: AssessmentSettings
) -> tuple[FloatArray, PublishedTests, str]:
    first, second = pairs or (np.arange(0), np.arange(0))
    text = dialogues.text[values.dialogue[first]]
    order = np.argsort(text, kind="stable")
    first, second = first[order], second[order]
    one, other = (dialogues.bot[values.dialogue[each]] for each in (first, second))
    clusters = values.clusters(settings.clusters)
    games = Games(
        bots=dialogues.bots,
        first=one,
        second=other,
        outcome=np.sign(values.value[first] - 0.5).astype(np.int64),
        conversation=text[order],
        annotator=values.who[first],
        unit=Unit.ANNOTATION,
        criterion=values.name,
    )
    tests = pair_tests(games, clusters=clusters, adjustment=settings.adjustment)
    published = published_sign_tests(values.value[first], one, other, n_bots=len(dialogues.bots), seed=settings.seed)
    return _adjusted(tests), published, f"{_PREFERENCES}, {clusters.words} ({settings.adjustment})"


def _adjusted(tests: Sequence[RatingDifference] | Sequence[PairComparison]) -> FloatArray:
    return np.array([np.nan if each.p_adjusted is None else each.p_adjusted for each in tests])


def _published(found: PublishedTests) -> PublishedSensitivity:
    return PublishedSensitivity(
        pairs_told_apart=dict(found.significant),
        p_values=found.p_values,
        n=found.dialogues_per_bot,
        seed=found.seed,
        method=found.method,
    )
