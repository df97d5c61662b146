"""Standard errors by leaving out clusters: whole dialogues, whole annotators, and their intersections.

The turns of one dialogue are alike and are left out together. If the annotator of each rating is known, annotators are
a sample as well: an annotator who is lenient or likes long answers shifts all their ratings. The variance is then

    V = V_dialogue + V_annotator - V_both        (Cameron, Gelbach & Miller 2011, Eq. 2.11)

Each part is the jackknife's variance (MacKinnon, Nielsen & Webb 2023, "CV3"), and V is set to at least V_dialogue and
at least V_annotator. Degrees of freedom are Satterthwaite's (1946). `benchmarks/fed/coverage` measures the coverage.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from spotthebot.fed.stats.annotator_ratings import FloatArray
from spotthebot.fed.stats.samples import Rows, Sample

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


@dataclass(frozen=True, eq=False)
class _Part:
    """The jackknife's variances of m statistics.

    A variance is NaN if its statistic is undefined without some cluster.
    """

    variances: FloatArray
    n_groups: int


def spreads(statistics: Sequence[Statistic], sample: Sample) -> list[Spread]:
    """Return the spread of each statistic of a sample.

    It says how much a statistic would vary with other dialogues and, if annotators are known, with other annotators.

    >>> from spotthebot.fed.stats.samples import sample_of
    >>> sample = sample_of([1.0, 2.0, 3.0, 6.0, 8.0], [0.0] * 5, dialogue=None)
    >>> (mean,) = spreads([lambda rows: np.mean(rows.columns[0], axis=1, where=rows.kept)], sample)
    >>> bool(np.isclose(mean.error, np.std([1, 2, 3, 6, 8], ddof=1) / 5**0.5)), mean.degrees  # the usual one
    (True, 4)
    """
    dialogues = _part(statistics, sample.without_dialogues())
    if sample.ratings is None or sample.n_annotators is None:
        return [_spread(variance, dialogues.n_groups - 1) for variance in dialogues.variances]
    if sample.n_annotators < LEAST_ANNOTATORS:
        reason = _FEW_ANNOTATORS.format(n=sample.n_annotators)
        return [Spread(None, None, reason) for _ in statistics]
    annotators = _part(statistics, sample.without_annotators())
    shared = _part(statistics, sample.without_shared())
    effective = max(sample.ratings.effective_annotators - 1, 0.5)
    found = []
    for one, other, both in zip(dialogues.variances, annotators.variances, shared.variances, strict=True):
        if np.isnan(one) or dialogues.n_groups < MIN_GROUPS:
            found.append(Spread(None, None, _FEW_DIALOGUES))
            continue
        if np.isnan(other) or np.isnan(both):
            found.append(Spread(None, None, _ONE_ANNOTATOR))
            continue
        variance = max(one + other - both, one, other)
        parts = one**2 / (dialogues.n_groups - 1) + other**2 / effective
        found.append(_spread(variance, variance**2 / parts if parts else 1.0))
    return found


def _spread(variance: float, degrees: float) -> Spread:
    if not variance > 0:
        return Spread(None, None, _FEW_DIALOGUES)
    return Spread(float(np.sqrt(variance)), degrees, None)


def _part(statistics: Sequence[Statistic], samples: Iterable[Rows]) -> _Part:
    found = [np.array([statistic(rows) for statistic in statistics]) for rows in samples]
    values = np.concatenate(found, axis=1) if found else np.empty((len(statistics), 0))
    n_groups = values.shape[1]
    if n_groups < MIN_GROUPS:
        return _Part(np.full(len(statistics), np.nan), n_groups)
    apart = values - values.mean(axis=1, keepdims=True)
    return _Part((n_groups - 1) / n_groups * np.sum(apart**2, axis=1), n_groups)
