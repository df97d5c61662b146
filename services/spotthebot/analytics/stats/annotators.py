"""The quality of annotators: how often they are right, and how often they agree with other annotators (Table 9)."""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from spotthebot.analytics.stats.annotations import HUMAN, AnnotationTable, BoolArray, FloatArray, IntArray, LabelCode
from spotthebot.analytics.stats.bootstrap import require_confidence_level
from spotthebot.analytics.stats.fooling_rate import labels_as_ratings
from spotthebot.analytics.stats.rank_agreement import AnyRanking, kendall_tau
from spotthebot.analytics.stats.ranking import rank_bots
from spotthebot.analytics.stats.ratings import rank_ratings
from spotthebot.analytics.stats.share_intervals import METHOD, share_bounds
from spotthebot.analytics.stats.wins import Unit, Weighting, play_games
from spotthebot.statistics.adjustment import Adjustment
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.clustered_variance import Influence, Observations, clustered_variance
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.randomness import Seed
from spotthebot.statistics.uncertainty import Clusters, Uncertainty

LEAST_ANNOTATORS: Final = 8
"""With fewer annotators, intervals of the mean correctness cover the truth too seldom."""
WEAK_METHOD: Final = "weak annotators are chosen by outcome: who calls bots bots is right, so these are no estimates"


@dataclass(frozen=True)
class AnnotatorQuality:
    """One annotator, named by a code. `correctness` is the share of right labels among all labels but "unsure".

    `human_correctness` is this share among labels of people. `majority_agreement` is the share of labels that equal the
    majority of the other annotators' labels of the same side. Both are None if there are no labels to count.
    """

    annotator: int
    n: int
    correctness: float | None
    human_correctness: float | None
    majority_agreement: float | None


@dataclass(frozen=True)
class Crowd:
    """The quality of all annotators together: means over annotators, and the interval of the mean correctness.

    Each annotator has the same weight, however many annotations they made. `share_below_half` is the share of
    annotators who are right less than half the time.
    """

    annotators: tuple[AnnotatorQuality, ...]
    correctness: float | None
    correctness_low: float | None
    correctness_high: float | None
    human_correctness: float | None
    share_below_half: float | None
    n: int
    confidence_level: float
    method: str
    uncertainty: Uncertainty


@dataclass(frozen=True)
class WithoutWeakAnnotators:
    """The ranking without annotators whose correctness is below `threshold`, compared with the full ranking.

    `kendall_tau` (tau-b) compares the two orders of the bots; None with fewer than two bots. `moved` has the bots whose
    rank range has changed, or whose cluster has other bots now.
    """

    threshold: float
    ranking: AnyRanking
    annotators: int
    annotations: int
    kendall_tau: float | None
    moved: tuple[str, ...]
    method: str


def annotator_quality(
    table: AnnotationTable, *, confidence_level: float = 0.95, clusters: Clusters = Clusters.BOTH
) -> Crowd:
    """Measure every annotator on both sides of all annotations. "human" is right for "HU", "bot" for all others.

    As in the paper's tables, all rows of an annotator for one segment count. A row is compared with the majority of the
    other annotators' labels, which excludes all rows of the same annotator.

    The interval of the mean is computed as the interval of a share, in which the labels of each annotator have the same
    total weight.

    >>> table = AnnotationTable(
    ...     names=("A", "HU"),
    ...     conversation=np.array([0, 0]),
    ...     entity=np.array([[0, 1], [0, 1]]),
    ...     exchanges=np.array([2, 2]),
    ...     label=np.array([[0, 2], [2, 1]]),
    ...     annotator=np.array([0, 1]),
    ... )
    >>> crowd = annotator_quality(table)
    >>> [each.correctness for each in crowd.annotators], crowd.share_below_half  # the second was right of none of one
    ([1.0, 0.0], 0.5)
    """
    clusters = choice_of("clusters", clusters, Clusters)
    require_confidence_level(confidence_level)
    codes, place = np.unique(table.annotator, return_inverse=True)
    people, right, said = _correct(table)
    side = np.repeat(place, 2)
    correctness = _shares(side, right & said, said, len(codes))
    human_correctness = _shares(side, right & said & people, said & people, len(codes))
    with_others, alike = _like_majority(table)
    majority = _shares(side, alike, with_others, len(codes))
    interval = _mean_interval(
        Observations(np.repeat(table.text, 2)[said], side[said]),
        right[said].astype(np.float64),
        correctness,
        clusters,
        confidence_level,
    )
    counts = np.bincount(place, minlength=len(codes))
    known = correctness[~np.isnan(correctness)]
    return Crowd(
        annotators=tuple(
            AnnotatorQuality(
                annotator=int(code),
                n=int(counts[i]),
                correctness=defined(correctness[i]),
                human_correctness=defined(human_correctness[i]),
                majority_agreement=defined(majority[i]),
            )
            for i, code in enumerate(codes)
        ),
        correctness=defined(float(_mean(correctness))),
        correctness_low=interval.low,
        correctness_high=interval.high,
        human_correctness=defined(float(_mean(human_correctness))),
        share_below_half=float(np.mean(known < 0.5)) if len(known) else None,
        n=len(codes),
        confidence_level=confidence_level,
        method=f"mean over annotators, unsure left out; {METHOD}",
        uncertainty=interval.uncertainty,
    )


def without_weak_annotators(  # noqa: PLR0913 - the settings of the ranking that it repeats
    table: AnnotationTable,
    *,
    thresholds: tuple[float, ...] = (0.5, 0.6, 0.7),
    unit: Unit = Unit.ANNOTATION,
    weighting: Weighting = Weighting.EXCHANGES,
    significance_level: float = 0.05,
    clusters: Clusters = Clusters.BOTH,
    adjustment: Adjustment = Adjustment.HOLM,
    n_resamples: int = 1000,
    seed: Seed = 0,
) -> tuple[WithoutWeakAnnotators, ...]:
    """Rank again without annotators who are right less often than each threshold; raises `SettingOutOfRange`.

    If no two bots met, the rankings are by fooling rate.

    An annotator who is right about bots labels them "bot", so weak annotators are selected by the same labels that rank
    the bots. These rankings show how much the result depends on weak annotators. They are not better estimates.

    >>> table = AnnotationTable(
    ...     names=("A", "B"),
    ...     conversation=np.array([0, 0]),
    ...     entity=np.array([[0, 1], [0, 1]]),
    ...     exchanges=np.array([2, 2]),
    ...     label=np.array([[2, 0], [2, 2]]),
    ...     annotator=np.array([0, 1]),
    ... )
    >>> (result,) = without_weak_annotators(table, thresholds=(0.5,))  # right: one of two, and none of two
    >>> result.annotators, result.annotations, result.kendall_tau
    (1, 1, 1.0)
    """
    unit = choice_of("unit", unit, Unit)
    clusters = choice_of("clusters", clusters, Clusters)
    adjustment = choice_of("adjustment", adjustment, Adjustment)
    for threshold in thresholds:
        if not 0 <= threshold <= 1:
            raise SettingOutOfRange(setting="threshold", allowed="between 0 and 1", value=threshold)
    if not len(table):
        return ()
    crowd = annotator_quality(table)
    settings: dict[str, Any] = {
        "significance_level": significance_level,
        "clusters": clusters,
        "adjustment": adjustment,
    }

    def rank(labels: AnnotationTable) -> AnyRanking:
        if not table.has_games:
            return rank_ratings(labels_as_ratings(labels), **settings)
        return rank_bots(
            play_games(labels, unit=unit, weighting=weighting), **settings, n_resamples=n_resamples, seed=seed
        )

    everyone = rank(table)
    results = []
    for threshold in thresholds:
        weak = [a.annotator for a in crowd.annotators if a.correctness is not None and a.correctness < threshold]
        rest = table.select(~np.isin(table.annotator, weak))
        ranking = rank(rest)
        results.append(
            WithoutWeakAnnotators(
                threshold=threshold,
                ranking=ranking,
                annotators=crowd.n - len(weak),
                annotations=len(rest),
                kendall_tau=kendall_tau(everyone, ranking),
                moved=_moved(everyone, ranking),
                method=WEAK_METHOD,
            )
        )
    return tuple(results)


def _correct(table: AnnotationTable) -> tuple[BoolArray, BoolArray, BoolArray]:
    human = table.names.index(HUMAN) if HUMAN in table.names else -1
    people = (table.entity == human).ravel()
    label = table.label.ravel()
    right = np.where(people, label == LabelCode.HUMAN, label == LabelCode.BOT)
    return people, right, label != LabelCode.UNSURE


def _shares(group: IntArray, counted: BoolArray, among: BoolArray, n_groups: int) -> FloatArray:
    hits = np.bincount(group[counted], minlength=n_groups).astype(np.float64)
    all_ = np.bincount(group[among], minlength=n_groups)
    shares: FloatArray = np.divide(hits, all_, out=np.full(n_groups, np.nan), where=all_ > 0)
    return shares


def _like_majority(table: AnnotationTable) -> tuple[BoolArray, BoolArray]:
    """Return two masks: which labels can be compared with the others' majority, and which labels equal it.

    A label can't be compared if the other labels are tied.
    """
    segments = np.column_stack([table.conversation, table.exchanges])
    _, segment = np.unique(segments, axis=0, return_inverse=True)
    sides = (segment.reshape(-1, 1) * 2 + np.arange(2)).ravel()
    label, n_labels = table.label.ravel(), len(LabelCode)
    counts = np.bincount(sides * n_labels + label, minlength=(sides.max() + 1 if len(sides) else 0) * n_labels)
    _, own = np.unique(np.column_stack([sides, np.repeat(table.annotator, 2)]), axis=0, return_inverse=True)
    own = own.ravel()
    of_own = np.bincount(own * n_labels + label, minlength=(own.max() + 1 if len(own) else 0) * n_labels)
    others = counts.reshape(-1, n_labels)[sides] - of_own.reshape(-1, n_labels)[own]
    top = others.max(axis=1, initial=0)
    clear = (top > 0) & (np.sum(others == top[:, None], axis=1) == 1)
    return clear, clear & (others.argmax(axis=1) == label)


def _mean(values: FloatArray) -> FloatArray:
    known = ~np.isnan(values)
    n = known.sum(axis=-1)
    sums = np.where(known, values, 0.0).sum(axis=-1)
    means: FloatArray = np.divide(sums, n, out=np.full(np.shape(n), np.nan), where=n > 0)
    return means


class _MeanInterval(NamedTuple):
    low: float | None
    high: float | None
    uncertainty: Uncertainty


def _mean_interval(
    sides: Observations, right: FloatArray, correctness: FloatArray, clusters: Clusters, confidence_level: float
) -> _MeanInterval:
    """Return the mean of the annotators' shares of right labels, with its bounds."""
    mean = _mean(correctness)
    n = np.bincount(sides.annotator, minlength=len(correctness))
    n_known = max(int(np.sum(n > 0)), 1)
    weight = 1 / n[sides.annotator] if len(right) else right
    # Without clusters of annotators, a label changes only the share of its own annotator.
    centre = mean if clusters.has_annotators else correctness[sides.annotator]
    none = np.zeros(len(right), dtype=np.int64)
    influence = Influence(1, none, np.arange(len(right)), none, (right - centre) * weight / n_known, weight)
    variance = clustered_variance(sides, influence, clusters)
    # A mean of shares varies as much as one share of this number of independent labels.
    worth = n_known**2 / np.sum(1 / n[n > 0]) if len(right) else 0.0
    low, high = share_bounds(np.array([mean]), np.array([int(worth)]), variance, confidence_level)
    uncertainty = variance.uncertainty(0).unless_few_annotators(LEAST_ANNOTATORS)
    if uncertainty.standard_error is None:
        return _MeanInterval(None, None, uncertainty)
    return _MeanInterval(defined(low[0]), defined(high[0]), uncertainty)


def _moved(one: AnyRanking, other: AnyRanking) -> tuple[str, ...]:
    def standings(ranking: AnyRanking) -> dict[str, tuple[int | None, int | None, frozenset[str]]]:
        return {
            bot.bot: (
                bot.rank_low,
                bot.rank_high,
                frozenset(each.bot for each in ranking.bots if each.cluster == bot.cluster),
            )
            for bot in ranking.bots
        }

    before, after = standings(one), standings(other)
    return tuple(sorted(bot for bot, standing in before.items() if after.get(bot) != standing))
