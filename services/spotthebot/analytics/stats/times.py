"""How long an annotation takes, with what is done about absurd values stated (Table 4 of Spot The Bot)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import defined, percentile_interval, require_confidence_level
from spotthebot.analytics.stats.errors import SettingOutOfRange
from spotthebot.analytics.stats.randomness import Seed, generator_of, seed_of


@dataclass(frozen=True)
class TimeOfSegment:
    """Seconds at one number of exchanges."""

    exchanges: int
    n: int
    median_seconds: float


@dataclass(frozen=True)
class AnnotationTimes:
    """Seconds per annotation over the `n` that count; `excluded` did not, by the rule that `method` tells.

    What the paper's Table 4 calls mean is the median. Where nothing counts the numbers are None.
    """

    median_seconds: float | None
    low: float | None
    high: float | None
    mean_seconds: float | None
    total_hours: float | None
    segments: tuple[TimeOfSegment, ...]
    n: int
    excluded: int
    confidence_level: float
    n_resamples: int
    method: str
    seed: int | None


def annotation_times(
    elapsed_ms: ArrayLike,
    exchanges: ArrayLike,
    conversation: ArrayLike,
    *,
    longest_hours: float = 24.0,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    seed: Seed = 0,
) -> AnnotationTimes:
    """Summarise durations in milliseconds (n,), NaN where none was measured.

    Those that are not measured, negative or longer than `longest_hours` are excluded and counted, nothing else: the
    median needs no more, and the mean says with it how skewed durations are. Bounds of the median are percentiles of a
    bootstrap of whole conversations. Raises `SettingOutOfRange`.

    >>> times = annotation_times([1000, 3000, 8000, -1, float("nan")], [2, 2, 3, 3, 3], [0, 1, 2, 3, 4])
    >>> times.median_seconds, times.mean_seconds, times.excluded
    (3.0, 4.0, 2)
    """
    require_confidence_level(confidence_level)
    if not longest_hours > 0:
        raise SettingOutOfRange(setting="longest_hours", allowed="above 0", value=longest_hours)
    elapsed = np.asarray(elapsed_ms, dtype=np.float64)
    counts = (elapsed >= 0) & (elapsed <= longest_hours * 3_600_000)
    seconds, length = elapsed[counts] / 1000, np.asarray(exchanges)[counts]
    low, high = _median_bounds(seconds, np.asarray(conversation)[counts], confidence_level, n_resamples, seed)
    return AnnotationTimes(
        median_seconds=float(np.median(seconds)) if len(seconds) else None,
        low=low,
        high=high,
        mean_seconds=float(seconds.mean()) if len(seconds) else None,
        total_hours=float(seconds.sum() / 3600) if len(seconds) else None,
        segments=tuple(
            TimeOfSegment(int(each), int(np.sum(length == each)), float(np.median(seconds[length == each])))
            for each in np.unique(length)
        ),
        n=len(seconds),
        excluded=int(np.sum(~counts)),
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        method=f"excluded: no beginning known, negative, or longer than {longest_hours:g} hours;"
        " percentile bootstrap of conversations",
        seed=seed_of(seed),
    )


def _median_bounds(
    seconds: FloatArray, conversation: IntArray, confidence_level: float, n_resamples: int, seed: Seed
) -> tuple[float | None, float | None]:
    if not len(seconds):
        return None, None
    order = np.argsort(seconds, kind="stable")
    _, cluster = np.unique(conversation[order], return_inverse=True)
    n_clusters = int(cluster.max()) + 1
    generator = generator_of(seed)
    medians = np.empty((n_resamples, 1))
    for at in range(n_resamples):
        # A replicate's median from how often each conversation was drawn: no row is copied.
        drawn = np.bincount(generator.integers(n_clusters, size=n_clusters), minlength=n_clusters)
        below = np.cumsum(drawn[cluster])
        middle = np.searchsorted(below, [(below[-1] + 1) // 2, below[-1] // 2 + 1])
        medians[at] = seconds[order[middle]].mean()
    low, high = percentile_interval(medians, confidence_level)
    return defined(low[0]), defined(high[0])
