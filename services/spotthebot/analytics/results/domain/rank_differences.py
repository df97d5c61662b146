"""Differences of mean win rates between the bots of one campaign: what pooled ranks are made of."""

from dataclasses import replace

import numpy as np

from spotthebot.analytics.labels.domain import Sample
from spotthebot.analytics.provenance.domain import Parameters, uncertainty_of
from spotthebot.analytics.results.domain.analysis import Section
from spotthebot.analytics.stats.win_rate_variance import WinRateVariance
from spotthebot.analytics.stats.wins import Unit, Weighting, count_wins, play_games
from spotthebot.contracts.analytics.provenance import Provenance, Uncertainty
from spotthebot.contracts.wire import Wire
from spotthebot.statistics.uncertainty import Clusters


class RankDifference(Wire):
    """The mean win rate of `bot`, less that of `other` unless `other` is None."""

    bot: str
    other: str | None
    estimate: float
    n: int
    uncertainty: Uncertainty


class RankDifferences(Provenance):
    """All mean win rates of a campaign with their differences; none if two of its bots never met."""

    differences: tuple[RankDifference, ...]


def rank_differences(sample: Sample, request: Parameters) -> tuple[RankDifference, ...]:
    """Compare the mean win rates of all bots with decided games, as sets of ranks do."""
    games = play_games(sample.table, unit=Unit(request.unit), weighting=Weighting(request.weighting))
    counts, rates = count_wins(games), WinRateVariance(games, Clusters(request.clusters))
    known = np.flatnonzero(~np.isnan(rates.means.share))
    met = (counts.wins + counts.wins.T + counts.ties)[np.ix_(known, known)] > 0
    if not (met | np.eye(len(known), dtype=np.bool_)).all():
        return ()
    first, second = (known[each] for each in np.triu_indices(len(known), 1))
    differences = rates.differences(first, second)
    found = [
        RankDifference(
            bot=games.bots[code],
            other=None,
            estimate=float(rates.means.share[code]),
            n=int(rates.means.n[code]),
            uncertainty=uncertainty_of(rates.means.variance.uncertainty(code)),
        )
        for code in known.tolist()
    ]
    for at, (one, other) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        of_share = differences.variance.uncertainty(at)
        error = None if of_share.standard_error is None else 2 * of_share.standard_error
        found.append(
            RankDifference(
                bot=games.bots[one],
                other=games.bots[other],
                estimate=float(2 * differences.share[at] - 1),
                n=int(differences.n[at]),
                uncertainty=uncertainty_of(replace(of_share, standard_error=error)),
            )
        )
    return tuple(found)


DIFFERENCES = Section("differences", RankDifferences, rank_differences, compares=True)
