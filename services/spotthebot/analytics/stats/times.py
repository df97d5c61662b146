"""How long an annotation takes (Table 4 of Spot The Bot). The result states how absurd values were treated."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from spotthebot.analytics.stats.annotations import FloatArray
from spotthebot.analytics.stats.bootstrap import require_confidence_level
from spotthebot.analytics.stats.share_intervals import METHOD, share_bounds
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.clustered_variance import Observations, clustered_variance, shares_of
from spotthebot.statistics.columns import read_codes, read_numbers
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.uncertainty import Clusters, Uncertainty


@dataclass(frozen=True)
class TimeOfSegment:
    """The seconds of annotations with one number of exchanges."""

    exchanges: int
    n: int
    median_seconds: float


@dataclass(frozen=True)
class AnnotationTimes:
    """Seconds per annotation, over the `n` annotations that count. The rule in `method` excludes the `excluded` others.

    The "mean" in the paper's Table 4 is the median. If nothing counts, the numbers are None.
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
    method: str
    uncertainty: Uncertainty


def annotation_times(
    elapsed_ms: ArrayLike,
    exchanges: ArrayLike,
    conversation: ArrayLike,
    annotator: ArrayLike,
    *,
    longest_hours: float = 24.0,
    confidence_level: float = 0.95,
    clusters: Clusters = Clusters.BOTH,
) -> AnnotationTimes:
    """Summarise durations in milliseconds (n,), NaN if not measured.

    Only durations that were not measured, are negative or are longer than `longest_hours` are excluded; the result
    counts them. The median needs no other exclusion. Its distance from the mean shows how skewed the durations are. The
    share of durations below the median has bounds; the quantiles of the durations at these bounds are the bounds of the
    median (Woodruff 1952). The standard error belongs to this share, not to seconds. Raises `SettingOutOfRange` and
    `ColumnMalformed`.

    >>> times = annotation_times([1000, 3000, 8000, -1, float("nan")], [2, 2, 3, 3, 3], range(5), [0, 1, 0, 1, 0])
    >>> times.median_seconds, times.mean_seconds, times.excluded
    (3.0, 4.0, 2)
    """
    clusters = choice_of("clusters", clusters, Clusters)
    require_confidence_level(confidence_level)
    if not longest_hours > 0:
        raise SettingOutOfRange(setting="longest_hours", allowed="above 0", value=longest_hours)
    elapsed, lengths = read_numbers(elapsed_ms, "elapsed_ms"), read_numbers(exchanges, "exchanges", finite=True)
    codes = [read_codes(*each).code for each in ((conversation, "conversation"), (annotator, "annotator"))]
    if len({elapsed.shape, lengths.shape, *(each.shape for each in codes)}) > 1:
        raise SettingOutOfRange(
            setting="elapsed_ms, exchanges, conversation and annotator",
            allowed="columns of one length",
            value=", ".join(str(each.shape) for each in (elapsed, lengths, *codes)),
        )
    counts = (elapsed >= 0) & (elapsed <= longest_hours * 3_600_000)
    seconds, length = elapsed[counts] / 1000, lengths[counts]
    who = Observations(codes[0][counts], codes[1][counts])
    low, high, uncertainty = _median_bounds(seconds, who, confidence_level, clusters)
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
        method=f"excluded: no beginning known, negative, or longer than {longest_hours:g} hours;"
        f" Woodruff's interval of the median by {METHOD}",
        uncertainty=uncertainty,
    )


def _median_bounds(
    seconds: FloatArray, who: Observations, confidence_level: float, clusters: Clusters
) -> tuple[float | None, float | None, Uncertainty]:
    n = len(seconds)
    median = np.median(seconds) if n else np.nan
    # Durations equal to the median count half, so that the share below it is one half for any number of them.
    below = (seconds < median) + 0.5 * (seconds == median)
    _, observed, influence = shares_of(np.zeros(n, dtype=np.int64), below, 1)
    variance = clustered_variance(who, influence, clusters)
    (lowest,), (highest,) = share_bounds(np.array([0.5]), observed, variance, confidence_level)
    if not n or np.isnan(lowest):
        return None, None, variance.uncertainty(0)
    ordered = np.sort(seconds)
    at = [max(math.ceil(n * lowest), 1), min(math.floor(n * highest) + 1, n)]
    low, high = (float(ordered[each - 1]) for each in at)
    error = (high - low) / 2 / float(variance.quantiles(confidence_level)[0])
    return low, high, replace(variance.uncertainty(0), standard_error=error)
