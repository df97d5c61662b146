"""How much a statistic of ratings varies: with other dialogues and, if annotators are known, with other annotators.

The turns of one dialogue are alike and are left out together. If the annotator of each rating is known, annotators are
a sample as well: an annotator who is lenient or likes long answers shifts all their ratings. The variance is that of
`spotthebot.statistics.uncertainty`, with dialogues and annotators as clusters. `benchmarks/fed/coverage` measures the
coverage.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from spotthebot.fed.stats.samples import Rows, Sample
from spotthebot.statistics.arrays import FloatArray, IntArray
from spotthebot.statistics.left_out import LeftOut, left_out_variance

Statistic: TypeAlias = Callable[[Rows], FloatArray]
"""Maps samples to the statistic of each row (rows,); NaN if it is undefined."""

MIN_GROUPS: Final = 5
"""With fewer dialogues, or systems, an interval exists by chance alone, and covers the truth too seldom."""
LEAST_ANNOTATORS: Final = 10
"""With fewer annotators, intervals cover the truth for other annotators too seldom."""
_FEW_DIALOGUES: Final = f"fewer than {MIN_GROUPS} different dialogues, or one that all hangs on: no interval"
_FEW_ANNOTATORS: Final = f"an interval for other annotators needs at least {LEAST_ANNOTATORS} annotators, not {{n}}"
_ONE_ANNOTATOR: Final = "all hangs on one annotator: no interval"


@dataclass(frozen=True)
class Spread:
    """The standard error of a statistic with its degrees of freedom; None with a `reason`."""

    error: float | None
    degrees: float | None
    reason: str | None


def spreads(statistics: Sequence[Statistic], sample: Sample) -> list[Spread]:
    """Return the spread of each statistic of a sample.

    >>> from spotthebot.fed.stats.samples import sample_of
    >>> sample = sample_of([1.0, 2.0, 3.0, 6.0, 8.0], [0.0] * 5, dialogue=None)
    >>> (mean,) = spreads([lambda rows: np.mean(rows.columns[0], axis=1, where=rows.kept)], sample)
    >>> bool(np.isclose(mean.error, np.std([1, 2, 3, 6, 8], ddof=1) / 5**0.5)), mean.degrees  # the usual one
    (True, 4.0)
    """
    dialogues = _part(statistics, sample.without_dialogues(), sample.dialogue_sizes)
    if sample.ratings is None or sample.n_annotators is None:
        found = left_out_variance(dialogues)
    elif sample.n_annotators < LEAST_ANNOTATORS:
        return [Spread(None, None, _FEW_ANNOTATORS.format(n=sample.n_annotators)) for _ in statistics]
    else:
        annotators = _part(statistics, sample.without_annotators(), sample.annotator_sizes)
        found = left_out_variance(
            dialogues, annotators, _part(statistics, sample.without_shared(), sample.shared_sizes)
        )
    alone = dialogues.variances
    return [
        _spread(variance, degrees, own if dialogues.n_clusters >= MIN_GROUPS else np.nan)
        for variance, degrees, own in zip(found.variance, found.degrees, alone, strict=True)
    ]


def _spread(variance: float, degrees: float, of_dialogues: float) -> Spread:
    if np.isnan(of_dialogues) or variance == 0:
        return Spread(None, None, _FEW_DIALOGUES)
    if np.isnan(variance):
        return Spread(None, None, _ONE_ANNOTATOR)
    return Spread(float(np.sqrt(variance)), float(degrees), None)


def _part(statistics: Sequence[Statistic], samples: Iterable[Rows], sizes: IntArray) -> LeftOut:
    found = [np.array([statistic(rows) for statistic in statistics]) for rows in samples]
    return LeftOut(np.concatenate(found, axis=1) if found else np.empty((len(statistics), 0)), sizes)
