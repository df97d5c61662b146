"""The differences of bots' mean ratings: bounds of each difference, and the tests that ranks are based on."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from spotthebot.analytics.stats.bootstrap import require_confidence_level
from spotthebot.analytics.stats.rating_estimates import RatingEstimates, Ratings, in_units
from spotthebot.statistics.adjustment import Adjustment, adjust
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.uncertainty import Clusters, Uncertainty

_ALIKE: Final = "the ratings of either bot are all alike, so nothing tells how others would differ"


@dataclass(frozen=True)
class RatingDifference:
    """The mean rating of `bot` minus the mean rating of `other`, with bounds and a test.

    Without a variance there are neither bounds nor p-values, and `reason` says why. `n` counts the ratings of both
    bots.
    """

    bot: str
    other: str
    estimate: float
    low: float | None
    high: float | None
    p_value: float | None
    p_adjusted: float | None
    uncertainty: Uncertainty
    n: int
    reason: str | None


def rating_differences(
    ratings: Ratings,
    *,
    confidence_level: float = 0.95,
    clusters: Clusters = Clusters.BOTH,
    adjustment: Adjustment = Adjustment.HOLM,
) -> tuple[RatingDifference, ...]:
    """Compare the mean ratings of every unordered pair of bots. The ranks of `rank_ratings` are based on these tests.

    The bounds are Student's, for one difference alone. The adjusted p-values hold for all pairs together. Raises
    `SettingOutOfRange`.

    >>> values = np.array([1.0, 2.0, 4.0, 5.0])
    >>> ratings = Ratings(("A", "B"), np.array([0, 0, 1, 1]), np.arange(4), np.array([0, 1, 0, 1]), values)
    >>> [(each.bot, each.other, each.estimate) for each in rating_differences(ratings)]
    [('A', 'B', -3.0)]
    """
    require_confidence_level(confidence_level)
    found = RatingEstimates.of(ratings, clusters)
    p_values = found.p_values()
    adjusted = adjust(p_values, adjustment)
    reach = found.differences.quantiles(confidence_level) * found.errors
    compared = []
    for at, (first, second) in enumerate(zip(found.first.tolist(), found.second.tolist(), strict=True)):
        uncertainty = in_units(found.differences.uncertainty(at), found.unit)
        lead = found.leads[at]
        compared.append(
            RatingDifference(
                bot=ratings.bots[first],
                other=ratings.bots[second],
                estimate=float(lead * found.unit),
                low=defined((lead - reach[at]) * found.unit),
                high=defined((lead + reach[at]) * found.unit),
                p_value=defined(p_values[at]),
                p_adjusted=defined(adjusted[at]),
                uncertainty=uncertainty,
                n=int(found.n[first] + found.n[second]),
                reason=(uncertainty.reason or _ALIKE) if np.isnan(p_values[at]) else None,
            )
        )
    return tuple(compared)
