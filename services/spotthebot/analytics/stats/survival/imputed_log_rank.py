"""Log-rank tests of imputed exact times. The time of each row is drawn from the common estimate within its interval."""

import numpy as np

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.survival.censored_times import CensoredTimes
from spotthebot.analytics.stats.survival.npmle import Npmle
from spotthebot.statistics.randomness import Seed, generator_of


def imputed_log_rank(
    times: CensoredTimes, pooled: Npmle, membership: IntArray, k: int, n_imputations: int, seed: Seed, *, added: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the groups' mean scores (k,) over the imputations and their variance (k, k).

    The variance between M imputations, times (1 + 1/M), is `added` to the variance within imputations (Zhao & Sun
    2004). Without `added`, the variance between imputations is subtracted (Huang, Lee & Yu 2008). Right-censored rows
    stay censored, since imputing them would halve the size of the test.
    """
    generator = generator_of(seed)
    m = len(pooled.mass)
    below = np.concatenate([[0.0], np.cumsum(pooled.mass)])
    seen = ~times.right_censored
    low, high = below[times.first[seen]], below[times.last[seen] + 1]
    group = membership[seen]
    sizes = np.bincount(membership, minlength=k)
    # A censored row is at risk in the cells that end at or before its last inspection.
    censored = np.searchsorted(times.cells[:, 1], times.left[~seen], side="right")
    leaving = np.bincount(membership[~seen] * (m + 1) + censored, minlength=k * (m + 1)).reshape(k, m + 1)
    gone = np.cumsum(leaving, axis=1)[:, :m]
    scores, within = np.empty((n_imputations, k)), np.zeros((k, k))
    for replicate in range(n_imputations):
        drawn = np.searchsorted(below, low + generator.random(len(low)) * (high - low), side="right") - 1
        drawn = np.clip(drawn, times.first[seen], times.last[seen])
        events = np.bincount(group * m + drawn, minlength=k * m).reshape(k, m)
        at_risk = sizes[:, None] - gone - (np.cumsum(events, axis=1) - events)
        scores[replicate], variance = _log_rank(events, at_risk)
        within += variance / n_imputations
    mean = scores.mean(axis=0)
    centred = scores - mean
    if added:
        between = (1 + 1 / n_imputations) * centred.T @ centred / max(1, n_imputations - 1)
        return mean, within + between
    return mean, within - centred.T @ centred / n_imputations


def _log_rank(events: IntArray, at_risk: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the observed minus the expected events of each group, and the hypergeometric variance of these numbers."""
    total, risk = events.sum(axis=0), at_risk.sum(axis=0)
    here = (total > 0) & (risk > 0)
    total, risk, share = total[here], risk[here], at_risk[:, here] / risk[here]
    score = events[:, here].sum(axis=1) - share @ total
    weight = total * np.divide(risk - total, risk - 1, out=np.zeros(len(risk)), where=risk > 1)
    variance = np.diag(share @ weight) - (share * weight) @ share.T
    return score, variance
