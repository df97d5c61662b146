"""Isotonic regression of many short series at once: the non-decreasing fit, as by pooling adjacent violators."""

import numpy as np

from spotthebot.analytics.stats.annotations import FloatArray, IntArray


def isotonic_shares(events: FloatArray, trials: FloatArray) -> FloatArray:
    """Fit non-decreasing shares to `events` of `trials` along the last axis. A share without trials is NaN.

    Uses the min-max formula (Robertson, Wright & Dykstra 1988, Theorem 1.4.4): the max over i <= k of the min over j >=
    k of the pooled share of i to j. It is exact and works on all leading axes together. For each series of length T it
    needs memory for T² numbers, which are few, since inspection times are few.
    """
    length = events.shape[-1]
    if length == 0:
        return events.copy()
    leading = [(0, 0)] * (events.ndim - 1)
    event_sums = np.pad(np.cumsum(events, axis=-1), [*leading, (1, 0)])
    trial_sums = np.pad(np.cumsum(trials, axis=-1), [*leading, (1, 0)])
    pooled_events = event_sums[..., None, 1:] - event_sums[..., :-1, None]
    pooled_trials = trial_sums[..., None, 1:] - trial_sums[..., :-1, None]
    # [i, j] is the share pooled over i..j; runs without trials (and j < i) impose no limit.
    share = np.full(pooled_trials.shape, np.inf)
    np.divide(pooled_events, pooled_trials, out=share, where=pooled_trials > 0)
    least = np.minimum.accumulate(share[..., ::-1], axis=-1)[..., ::-1]
    start, end = np.indices((length, length))
    fitted = np.where((start <= end) & np.isfinite(least), least, -np.inf).max(axis=-2)
    return np.where(trials > 0, fitted, np.nan)


def pooled_blocks(fitted: FloatArray) -> IntArray:
    """Return a number for each block of equal fitted values, along the last axis and all leading axes together.

    A place without trials (NaN) belongs to the block before it.

    >>> pooled_blocks(np.array([[0.25, 0.5, 0.5], [0.5, np.nan, 0.75]])).tolist()
    [[0, 1, 1], [2, 2, 3]]
    """
    if not fitted.size:
        return np.zeros(fitted.shape, dtype=np.int64)
    reached = np.maximum.accumulate(np.where(np.isnan(fitted), -np.inf, fitted), axis=-1)
    starts = np.ones(fitted.shape, dtype=np.bool_)
    starts[..., 1:] = reached[..., 1:] > reached[..., :-1]
    return (np.cumsum(starts.ravel()) - 1).reshape(fitted.shape)
