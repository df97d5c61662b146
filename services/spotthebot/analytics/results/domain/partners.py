"""Results with and without conversations of people with bots, as the early draft of Spot The Bot compares them."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from spotthebot.analytics import stats
from spotthebot.analytics.labels.domain import Sample
from spotthebot.analytics.provenance.domain import Parameters, interval_of, uncertainty_of
from spotthebot.analytics.results.domain.survival import survival_curves
from spotthebot.analytics.stats.fooling_rate import fooling_rates, labels_as_ratings
from spotthebot.analytics.stats.partner_rates import METHOD, partner_differences, with_people
from spotthebot.analytics.stats.ratings import rank_ratings
from spotthebot.contracts.analytics.partners import (
    Conversations,
    OrderCorrelation,
    PartnerBot,
    PartnerDifference,
    PartnerResult,
    Partners,
)
from spotthebot.statistics.rank_correlation import rank_correlation

_ONE_KIND: Final = "not both people and bots are partners of bots in these conversations"


def partners(sample: Sample, request: Parameters) -> Partners:
    """Compare fooling rates, ranks and survival in conversations with people and without people.

    Conversations between two people count among all conversations alone.
    """
    table = sample.table
    kinds: dict[Conversations, stats.AnnotationTable] = {
        "all": table,
        "without_people": table.between_bots(),
        "with_people": with_people(table),
    }
    compared = len(kinds["without_people"]) > 0 and len(kinds["with_people"]) > 0
    results = tuple(_result(kind, each, request) for kind, each in kinds.items()) if compared else ()
    differences = partner_differences(
        table,
        confidence_level=request.confidence_level,
        clusters=stats.Clusters(request.clusters),
        adjustment=stats.Adjustment(request.correction),
    )
    without, including = (
        {each.bot: each.fooling_rate.estimate for each in found.bots} for found in (results[1:] or (_NOBODY, _NOBODY))
    )
    both = [bot for bot in without if bot in including and bot != stats.HUMAN]
    rates = np.array([[found[bot] for bot in both] for found in (including, without)], dtype=np.float64)
    correlation = rank_correlation(*rates, confidence_level=request.confidence_level)
    return Partners(
        results=results,
        differences=tuple(
            PartnerDifference.of(
                each,
                significant=each.p_adjusted is not None and each.p_adjusted < request.significance_level,
                uncertainty=uncertainty_of(each.uncertainty),
            )
            for each in differences
        ),
        correlation=OrderCorrelation.of(correlation),
        method=METHOD,
        reason=None if compared else _ONE_KIND,
    )


_NOBODY: Final = PartnerResult(conversations="all", annotations=0, bots=(), times=(), curves=())


def _result(kind: Conversations, table: stats.AnnotationTable, request: Parameters) -> PartnerResult:
    times, curves = survival_curves(table, request)
    return PartnerResult(
        conversations=kind,
        annotations=len(table),
        bots=tuple(_bots(table, request)),
        times=times,
        curves=curves,
    )


def _bots(table: stats.AnnotationTable, request: Parameters) -> Iterator[PartnerBot]:
    clusters = stats.Clusters(request.clusters)
    ranked = rank_ratings(
        labels_as_ratings(table),
        confidence_level=request.confidence_level,
        significance_level=request.significance_level,
        clusters=clusters,
        adjustment=stats.Adjustment(request.correction),
    )
    rates = {
        each.bot: each
        for each in fooling_rates(table, confidence_level=request.confidence_level, clusters=clusters)
        if each.n
    }
    ranks = {each.bot: each for each in ranked.bots}
    for name in (*ranks, *(rates.keys() & {stats.HUMAN})):
        rate, own = rates[name], ranks.get(name)
        yield PartnerBot(
            bot=name,
            fooling_rate=interval_of(rate.estimate, rate.low, rate.high, rate.uncertainty),
            rank_low=own and own.rank_low,
            rank_high=own and own.rank_high,
            n=rate.n,
        )
