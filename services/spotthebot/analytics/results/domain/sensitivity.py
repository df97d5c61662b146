"""How much the ranking depends on choices: the treatment of "unsure", the filter, and the unit.

If no two bots met, the ranking is by fooling rate, which depends neither on the unit nor on "unsure" as bot.

Win rates treat "unsure" as a label between bot and human. Fooling rates count it as not human, survival counts it as
not spotted, and correctness leaves it out. The alternatives apply each of the last three treatments to win rates.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, get_args

import numpy as np

from spotthebot.analytics import stats
from spotthebot.analytics.labels.domain import Sample, take_sample
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.stats.fooling_rate import labels_as_ratings
from spotthebot.analytics.stats.rank_agreement import AnyRanking
from spotthebot.analytics.stats.ratings import RatingRanking, rank_ratings
from spotthebot.contracts.analytics.choices import Filter, Unit
from spotthebot.contracts.analytics.sensitivity import Alternative, Sensitivity

AS_BOT: Final = "unsure counts as bot, as in fooling rates"
AS_HUMAN: Final = "unsure counts as human, as not spotted in survival"
LEFT_OUT: Final = "annotations with an unsure label are left out, as labels in correctness"


def sensitivity(sample: Sample, request: Parameters) -> Sensitivity:
    """Rank the bots once for each alternative choice, without resampling."""
    rank = _by_games if sample.table.has_games else _by_fooling_rates
    headline = rank(sample.table, request.unit, request)
    alternatives = (
        _alternative(choice, value, headline, rank(table, unit, request))
        for choice, value, table, unit in _alternatives(sample, request)
        if sample.table.has_games or (choice != "unit" and value != AS_BOT)
    )
    return Sensitivity(order=_order(headline), alternatives=tuple(alternatives))


def _alternatives(sample: Sample, request: Parameters) -> Iterator[tuple[str, str, stats.AnnotationTable, Unit]]:
    table = sample.table
    unsure = table.label == stats.LabelCode.UNSURE
    yield "unsure", AS_BOT, replace(table, label=np.where(unsure, stats.LabelCode.BOT, table.label)), request.unit
    yield "unsure", AS_HUMAN, replace(table, label=np.where(unsure, stats.LabelCode.HUMAN, table.label)), request.unit
    yield "unsure", LEFT_OUT, table.select(~unsure.any(axis=1)), request.unit
    for filter_ in get_args(Filter):
        if filter_ != request.filter:
            yield "filter", filter_, take_sample(sample.labelled, filter_).table, request.unit
    for unit in get_args(Unit):
        if unit != request.unit:
            yield "unit", unit, table, unit


def _by_games(table: stats.AnnotationTable, unit: Unit, request: Parameters) -> stats.Ranking:
    return stats.rank_bots(
        stats.play_games(table, unit=stats.Unit(unit), weighting=stats.Weighting(request.weighting)),
        confidence_level=request.confidence_level,
        significance_level=request.significance_level,
        clusters=stats.Clusters(request.clusters),
        adjustment=stats.Adjustment(request.correction),
        n_resamples=1,
    )


def _by_fooling_rates(table: stats.AnnotationTable, unit: Unit, request: Parameters) -> RatingRanking:
    del unit
    return rank_ratings(
        labels_as_ratings(table),
        confidence_level=request.confidence_level,
        significance_level=request.significance_level,
        clusters=stats.Clusters(request.clusters),
        adjustment=stats.Adjustment(request.correction),
    )


def _alternative(choice: str, value: str, headline: AnyRanking, other: AnyRanking) -> Alternative:
    before, after = (
        {each.bot: (each.rank_low, each.rank_high) for each in ranking.bots} for ranking in (headline, other)
    )
    return Alternative.model_validate(
        {
            "choice": choice,
            "value": value,
            "kendall_tau": stats.kendall_tau(headline, other),
            "moved": tuple(sorted(bot for bot, ranks in before.items() if after.get(bot) != ranks)),
            **ranks_of(other),
        }
    )


def ranks_of(ranking: AnyRanking) -> dict[str, object]:
    """Return the fields of `OtherRanking`."""
    ranked = [each for each in ranking.bots if each.estimate is not None]
    reason = ranking.reason if isinstance(ranking, stats.Ranking) else None
    unknown = [each.uncertainty.reason for each in ranked]
    return {
        "order": _order(ranking),
        "rank_low": tuple(each.rank_low for each in ranked),
        "rank_high": tuple(each.rank_high for each in ranked),
        "reason": reason or (unknown[0] if all(unknown) and unknown else None),
    }


def _order(ranking: AnyRanking) -> tuple[str, ...]:
    return tuple(each.bot for each in ranking.bots if each.estimate is not None)
