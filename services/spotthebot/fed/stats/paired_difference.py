"""The difference of mean scores between two bots that held the same planned conversations.

Differences of pairs are scores of one bot, so their mean and its bounds are those of `score_bots`: pairs with one
opening are one cluster, and each bound is the wider one of two. `benchmarks/fed/coverage/gate` measures false alarms
and power.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spotthebot.fed.stats.bot_scores import score_bots
from spotthebot.statistics.columns import read_numbers
from spotthebot.statistics.distributions import student_quantiles
from spotthebot.statistics.errors import ColumnsDiffer

POWER = 0.8


@dataclass(frozen=True)
class PairedDifference:
    """The mean difference over n pairs, between two bounds that each hold at the confidence level.

    `detectable` is about the smallest loss that `high` shows with a probability of POWER. If there are no bounds,
    `reason` says why.
    """

    estimate: float
    low: float | None
    high: float | None
    detectable: float | None
    confidence_level: float
    n: int
    n_resamples: int
    seed: int
    method: str
    reason: str | None


def paired_difference(
    scores: npt.ArrayLike,
    baseline: npt.ArrayLike,
    dialogue: npt.ArrayLike,
    opening: npt.ArrayLike | None = None,
    *,
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
) -> PairedDifference:
    """Return the mean of `scores` minus `baseline`, with a lower and an upper one-sided bound.

    All columns have one element for each of the n pairs. Pairs with equal `dialogue` (the texts of both sides) count as
    one; openings as in `score_bots`. Raises the errors of `score_bots`; the confidence level has to be above 0.5.

    >>> found = paired_difference([1.0, 2.5, 3.0, 2.0, 4.5], [2.0, 3.0, 4.5, 4.0, 5.0], [0, 1, 2, 3, 4])
    >>> found.estimate, found.high < 0 < found.detectable
    (-1.1, True)
    """
    first, second = read_numbers(scores, "scores", finite=True), read_numbers(baseline, "baseline", finite=True)
    if first.shape != second.shape or not first.size:
        raise ColumnsDiffer(first=first.shape, second=second.shape)
    found = score_bots(
        first - second,
        ["the difference"] * len(first),
        dialogue,
        opening,
        confidence_level=2 * confidence_level - 1,
        n_resamples=n_resamples,
        seed=seed,
    )
    (bot,) = found.bots
    detectable = None
    if bot.high is not None:
        # The bound is `quantile` standard errors away; the loss has to be further by the quantile of the power.
        of_level, of_power = student_quantiles(np.array([confidence_level, POWER]), np.inf)
        detectable = (bot.high - bot.estimate) * float(1 + of_power / of_level)
    return PairedDifference(
        estimate=bot.estimate,
        low=bot.low,
        high=bot.high,
        detectable=detectable,
        confidence_level=confidence_level,
        n=bot.n,
        n_resamples=n_resamples,
        seed=seed,
        method=found.method.partition("; ranks")[0],
        reason=bot.reason,
    )
