"""The quality of annotators: how often they are right, and how often they agree with the others (Table 9)."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from spotthebot.analytics.stats.annotations import HUMAN, AnnotationTable, BoolArray, FloatArray, IntArray, LabelCode
from spotthebot.analytics.stats.bootstrap import defined, percentile_interval, require_resamples
from spotthebot.analytics.stats.errors import SettingOutOfRange
from spotthebot.analytics.stats.randomness import Seed, generator_of, seed_of
from spotthebot.analytics.stats.ranking import Ranking, rank_bots
from spotthebot.analytics.stats.wins import Unit, play_games


@dataclass(frozen=True)
class AnnotatorQuality:
    """One annotator, by their code: `correctness` is the share of right labels among those that are not "unsure".

    `human_correctness` is that share on people, `majority_agreement` the share of labels that the majority of the other
    annotators of the same side gave; None where there is nothing to count.
    """

    annotator: int
    n: int
    correctness: float | None
    human_correctness: float | None
    majority_agreement: float | None


@dataclass(frozen=True)
class Crowd:
    """All annotators: means over annotators, so that the busy do not count for more, with percentile bounds.

    `share_below_half` is the share of annotators who are right less than half the time.
    """

    annotators: tuple[AnnotatorQuality, ...]
    correctness: float | None
    correctness_low: float | None
    correctness_high: float | None
    human_correctness: float | None
    share_below_half: float | None
    n: int
    confidence_level: float
    n_resamples: int
    method: str
    seed: int | None


@dataclass(frozen=True)
class WithoutWeakAnnotators:
    """The ranking without annotators whose correctness is below `threshold`, against that of all.

    `kendall_tau` compares the orders of the bots, None with fewer than two; `moved` are bots whose cluster changed.
    """

    threshold: float
    ranking: Ranking
    annotators: int
    annotations: int
    kendall_tau: float | None
    moved: tuple[str, ...]


def annotator_quality(
    table: AnnotationTable, *, confidence_level: float = 0.95, n_resamples: int = 1000, seed: Seed = 0
) -> Crowd:
    """Measure every annotator by both sides of all annotations; right is "human" for "HU" and "bot" for anyone else.

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
    require_resamples(n_resamples)
    codes, place = np.unique(table.annotator, return_inverse=True)
    people, right, said = _correct(table)
    side = np.repeat(place, 2)
    correctness = _shares(side, right & said, said, len(codes))
    human_correctness = _shares(side, right & said & people, said & people, len(codes))
    with_others, alike = _like_majority(table)
    majority = _shares(side, alike, with_others, len(codes))
    drawn = generator_of(seed).integers(len(codes), size=(n_resamples, len(codes))) if len(codes) else None
    low, high = (np.array([np.nan]),) * 2
    if drawn is not None:
        low, high = percentile_interval(_mean(correctness[drawn])[:, None], confidence_level)
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
        correctness_low=defined(low[0]),
        correctness_high=defined(high[0]),
        human_correctness=defined(float(_mean(human_correctness))),
        share_below_half=float(np.mean(known < 0.5)) if len(known) else None,
        n=len(codes),
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        method="mean over annotators, unsure left out; percentile bootstrap of annotators",
        seed=seed_of(seed),
    )


def without_weak_annotators(
    table: AnnotationTable,
    *,
    thresholds: tuple[float, ...] = (0.5, 0.6, 0.7),
    unit: Unit = Unit.ANNOTATION,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    seed: Seed = 0,
) -> tuple[WithoutWeakAnnotators, ...]:
    """Rank again without annotators who are right less often than each threshold; raises `SettingOutOfRange`.

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
    for threshold in thresholds:
        if not 0 <= threshold <= 1:
            raise SettingOutOfRange(setting="threshold", allowed="between 0 and 1", value=threshold)
    if not len(table):
        return ()
    crowd = annotator_quality(table, n_resamples=1)
    everyone = rank_bots(
        play_games(table, unit=unit), confidence_level=confidence_level, n_resamples=n_resamples, seed=seed
    )
    results = []
    for threshold in thresholds:
        weak = [a.annotator for a in crowd.annotators if a.correctness is not None and a.correctness < threshold]
        rest = table.select(~np.isin(table.annotator, weak))
        ranking = rank_bots(
            play_games(rest, unit=unit), confidence_level=confidence_level, n_resamples=n_resamples, seed=seed
        )
        results.append(
            WithoutWeakAnnotators(
                threshold=threshold,
                ranking=ranking,
                annotators=crowd.n - len(weak),
                annotations=len(rest),
                kendall_tau=_kendall(everyone, ranking),
                moved=_moved(everyone, ranking),
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
    """Tell which labels the others' majority can be compared with (one, not a tie), and which are like it."""
    segments = np.column_stack([table.conversation, table.exchanges])
    _, segment = np.unique(segments, axis=0, return_inverse=True)
    sides = (segment.reshape(-1, 1) * 2 + np.arange(2)).ravel()
    label, n_labels = table.label.ravel(), len(LabelCode)
    counts = np.bincount(sides * n_labels + label, minlength=(sides.max() + 1 if len(sides) else 0) * n_labels)
    others = counts.reshape(-1, n_labels)[sides]
    others[np.arange(len(label)), label] -= 1
    top = others.max(axis=1, initial=0)
    clear = (top > 0) & (np.sum(others == top[:, None], axis=1) == 1)
    return clear, clear & (others.argmax(axis=1) == label)


def _mean(values: FloatArray) -> FloatArray:
    known = ~np.isnan(values)
    n = known.sum(axis=-1)
    sums = np.where(known, values, 0.0).sum(axis=-1)
    means: FloatArray = np.divide(sums, n, out=np.full(np.shape(n), np.nan), where=n > 0)
    return means


def _kendall(one: Ranking, other: Ranking) -> float | None:
    rates = {bot.bot: bot.estimate for bot in other.bots}
    pairs = [(bot.estimate, rates[bot.bot]) for bot in one.bots if bot.estimate is not None]
    known = [(a, b) for a, b in pairs if b is not None]
    if len(known) < 2:
        return None
    first, second = zip(*known, strict=True)
    return defined(float(stats.kendalltau(first, second).statistic))


def _moved(one: Ranking, other: Ranking) -> tuple[str, ...]:
    clusters = {bot.bot: bot.cluster for bot in other.bots}
    return tuple(sorted(bot.bot for bot in one.bots if clusters[bot.bot] != bot.cluster))
