"""Results of measures: each bot's mean or win rate with interval and rank, differences of all pairs, and agreement."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from spotthebot.analytics.measures.domain.published_forms import published_form, published_wins
from spotthebot.analytics.provenance.domain import Parameters, coefficient_of, uncertainty_of
from spotthebot.analytics.stats.alpha import krippendorff_alpha
from spotthebot.analytics.stats.annotations import HUMAN, BoolArray
from spotthebot.analytics.stats.disagreement import Measurement
from spotthebot.analytics.stats.means import means_of_means
from spotthebot.analytics.stats.mixed_models.cumulative_link import cumulative_link_mixed_model
from spotthebot.analytics.stats.mixed_models.linear import linear_mixed_model
from spotthebot.analytics.stats.mixed_models.results import model_of
from spotthebot.analytics.stats.ranking import rank_bots
from spotthebot.analytics.stats.rating_differences import RatingDifference, rating_differences
from spotthebot.analytics.stats.rating_estimates import Ratings
from spotthebot.analytics.stats.ratings import RatedBot, rank_ratings
from spotthebot.analytics.stats.significance import pair_tests
from spotthebot.analytics.stats.wins import Games, Unit, count_wins
from spotthebot.analytics.values.domain.measure_values import NO_ANNOTATOR, Values
from spotthebot.contracts.analytics.annotation_quality import Coefficient
from spotthebot.contracts.analytics.choices import MixedModelKind
from spotthebot.contracts.analytics.measures import (
    MeasuredBot,
    MeasuredPair,
    MeasureResult,
    PublishedForm,
    ValueCount,
)
from spotthebot.contracts.analytics.mixed_models import BotEffect, EffectDifference, MixedModel, VarianceComponent
from spotthebot.statistics.adjustment import Adjustment
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.uncertainty import Clusters

PAIRS_OF_RATINGS: Final = "Student's t of the difference of means, the tests behind the ranks"
PAIRS_OF_PREFERENCES: Final = "Student's t of the win rate, ties dropped"
_NOBODY: Final = "nobody answered"
_NO_RATINGS: Final = "preferences compare two bots; mixed models are of ratings and behaviours"
_LEVELS: Final = {"scale": Measurement.ORDINAL, "share": Measurement.NOMINAL, "preference": Measurement.ORDINAL}


def measure_result(values: Values, request: Parameters) -> MeasureResult:
    """Summarise one measure: the bots, best first, followed by people, and how much annotators agree."""
    bots, summary = _preferred(values, request) if values.measure.kind == "preference" else _rated(values, request)
    return MeasureResult(
        **values.measure.model_dump(),
        n=len(values.value),
        left_out=values.left_out,
        bots=bots,
        alpha=agreement_of(values, request),
        **summary,
    )


def measured_pairs(values: Values, request: Parameters) -> tuple[MeasuredPair, ...]:
    """Compare every pair of bots by one measure."""
    if len(values.bots) < 2:
        return ()
    if values.measure.kind == "preference":
        return _preferred_pairs(values, request)
    differences = rating_differences(
        _ratings(values, _of_bots(values)),
        confidence_level=request.confidence_level,
        clusters=_clusters(values, request),
        adjustment=Adjustment(request.correction),
    )
    return tuple(measured_pair(each, request.significance_level) for each in differences)


def measured_pair(difference: RatingDifference, significance_level: float) -> MeasuredPair:
    """Return the wire type of a difference of two bots' means."""
    return MeasuredPair.of(
        difference,
        significant=difference.p_adjusted is not None and difference.p_adjusted < significance_level,
        uncertainty=uncertainty_of(difference.uncertainty),
        published=None,
    )


def mixed_model_of(values: Values, request: Parameters, kind: MixedModelKind) -> MixedModel:
    """Fit a mixed model to the values of bots.

    There is none of preferences, which compare two bots, and of values that no annotator gives.
    """
    why_not = _NO_RATINGS if values.measure.kind == "preference" else None if values.has_annotators else NO_ANNOTATOR
    ratings = _ratings(values, _of_bots(values) & (why_not is None))
    settings: dict[str, Any] = {
        "confidence_level": request.confidence_level,
        "adjustment": Adjustment(request.correction),
    }
    fit = linear_mixed_model if kind == "linear" else cumulative_link_mixed_model
    found = fit(ratings, **settings) if why_not is None else model_of(ratings, why_not, method="none", **settings)
    return MixedModel.of(
        found,
        bots=tuple(map(BotEffect.of, found.bots)),
        pairs=tuple(map(EffectDifference.of, found.pairs)),
        components=tuple(map(VarianceComponent.of, found.components)),
    )


def _rated(values: Values, request: Parameters) -> tuple[tuple[MeasuredBot, ...], Mapping[str, Any]]:
    counts, of_bots = _value_counts(values), _of_bots(values)
    published = _published_forms(values, counts, request)
    found: list[MeasuredBot] = []
    summary: dict[str, str | None] = {"method": "", "rank_method": "", "reason": _NOBODY}
    for rows in (of_bots, ~of_bots):
        if not rows.any():
            continue
        ranked = rank_ratings(
            _ratings(values, rows),
            confidence_level=request.confidence_level,
            significance_level=request.significance_level,
            clusters=_clusters(values, request),
            adjustment=Adjustment(request.correction),
        )
        if not found:
            reason = None if rows is of_bots else "no bot has values"
            summary = {"method": ranked.method, "rank_method": ranked.rank_method, "reason": reason}
        bots = _lowest_first(ranked.bots) if values.measure.better == "lower" else ranked.bots
        listed = counts if values.measure.ends else dict[str, tuple[ValueCount, ...]].fromkeys(counts, ())
        found += [_measured_bot(each, listed[each.bot], published[each.bot]) for each in bots]
    return tuple(found), summary


def _lowest_first(bots: Sequence[RatedBot]) -> list[RatedBot]:
    """Turn a ranking round: the tests behind the ranks are the same for either direction."""
    k, clusters = len(bots), max(bot.cluster for bot in bots)
    turned = [
        replace(bot, rank_low=k + 1 - bot.rank_high, rank_high=k + 1 - bot.rank_low, cluster=clusters + 1 - bot.cluster)
        for bot in bots
    ]
    return sorted(turned, key=lambda bot: (bot.estimate, bot.bot))


def _measured_bot(found: RatedBot, counts: tuple[ValueCount, ...], published: PublishedForm) -> MeasuredBot:
    unranked = {"rank_low": None, "rank_high": None, "cluster": None} if found.bot == HUMAN else {}
    return MeasuredBot.of(
        found, uncertainty=uncertainty_of(found.uncertainty), values=counts, published=published, **unranked
    )


def _preferred(values: Values, request: Parameters) -> tuple[tuple[MeasuredBot, ...], Mapping[str, Any]]:
    if not len(values.value):
        return (), {"method": "", "rank_method": "", "reason": _NOBODY}
    ranking = rank_bots(
        _games(values),
        confidence_level=request.confidence_level,
        significance_level=request.significance_level,
        clusters=Clusters(request.clusters),
        adjustment=Adjustment(request.correction),
        n_resamples=request.resamples,
        seed=request.seed,
    )
    counts = _value_counts(values)
    published = _published_forms(values, counts, request)
    summary = {"method": ranking.method, "rank_method": ranking.rank_method, "reason": ranking.reason}
    bots = (
        MeasuredBot.of(
            each,
            uncertainty=uncertainty_of(each.uncertainty),
            values=counts[each.bot],
            published=published[each.bot],
        )
        for each in ranking.bots
    )
    return tuple(bots), summary


def _preferred_pairs(values: Values, request: Parameters) -> tuple[MeasuredPair, ...]:
    games, clusters, adjustment = _games(values), Clusters(request.clusters), Adjustment(request.correction)
    ranking = rank_bots(
        games, confidence_level=request.confidence_level, clusters=clusters, n_resamples=1, seed=request.seed
    )
    tests = pair_tests(games, clusters=clusters, adjustment=adjustment)
    return tuple(
        MeasuredPair.of(
            test,
            low=interval.low,
            high=interval.high,
            significant=_is_significant(test.p_adjusted, request),
            uncertainty=uncertainty_of(interval.uncertainty),
            published=published_wins(counted.wins, counted.ties, counted.losses, request.confidence_level),
        )
        for test, interval, counted in zip(tests, ranking.pairs, count_wins(games).pairs(), strict=True)
    )


def _clusters(values: Values, request: Parameters) -> Clusters:
    """Return the clusters of the variance. Values that no annotator gives have intervals for other conversations."""
    return Clusters(request.clusters) if values.has_annotators else Clusters.CONVERSATION


def _is_significant(p_adjusted: float | None, request: Parameters) -> bool:
    return p_adjusted is not None and p_adjusted < request.significance_level


def _of_bots(values: Values) -> BoolArray:
    of_bots: BoolArray = values.bot < len(values.bots)
    return of_bots


def _ratings(values: Values, rows: BoolArray) -> Ratings:
    """Return the ratings in these rows. Bots and annotators without a rating in them are left out."""
    codes, bot = np.unique(values.bot[rows], return_inverse=True)
    return Ratings(
        bots=tuple(values.names[code] for code in codes.tolist()),
        bot=bot,
        item=values.text[rows],
        annotator=values.annotator[rows],
        value=values.value[rows],
        scale=values.measure.ends,
    )


def _games(values: Values) -> Games:
    return Games(
        bots=values.names,
        first=values.bot,
        second=values.other,
        outcome=np.rint(2 * values.value - 1).astype(np.int64),
        conversation=values.text,
        annotator=values.annotator,
        unit=Unit.ANNOTATION,
        criterion=values.measure.measure,
    )


def _value_counts(values: Values) -> dict[str, tuple[ValueCount, ...]]:
    """Return how often each bot got each value. A preference for one bot counts as a value against the other."""
    compared = values.other >= 0
    bot = np.concatenate([values.bot, values.other[compared]])
    given = np.concatenate([values.value, 1 - values.value[compared]])
    found: dict[str, tuple[ValueCount, ...]] = {}
    for code, name in enumerate(values.names):
        own, counts = np.unique(given[bot == code], return_counts=True)
        found[name] = tuple(ValueCount(value=v, n=n) for v, n in zip(own.tolist(), counts.tolist(), strict=True))
    return found


def _published_forms(
    values: Values, counts: Mapping[str, tuple[ValueCount, ...]], request: Parameters
) -> dict[str, PublishedForm]:
    means = means_of_means(values.bot, values.text, values.value, len(values.names))
    return {
        name: published_form(values.measure.kind, counts[name], defined(mean), request.confidence_level)
        for name, mean in zip(values.names, means, strict=True)
    }


def agreement_of(values: Values, request: Parameters) -> Coefficient:
    """Return Krippendorff's alpha of the values of one measure."""
    alpha = krippendorff_alpha(
        values.unit,
        values.value,
        level=_LEVELS[values.measure.kind],
        conversation=values.text,
        annotator=values.annotator,
        clusters=Clusters(request.clusters),
        confidence_level=request.confidence_level,
    )
    return coefficient_of(alpha if values.has_annotators else replace(alpha, reason=NO_ANNOTATOR))
