"""A judge by bot, by length or by domain: its missing answers, its Brier score and its bias; and the order of bots."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import require_confidence_level
from spotthebot.analytics.stats.judge_quality.clustered_means import ClusteredMean, clustered_means
from spotthebot.analytics.stats.judge_quality.columns import ScoredLabels, read_probabilities, require_one_length
from spotthebot.analytics.stats.share_intervals import share_bounds
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.clustered_variance import Observations, clustered_variance, shares_of
from spotthebot.statistics.columns import read_codes
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.rank_correlation import RankCorrelation, rank_correlation
from spotthebot.statistics.uncertainty import Clusters

_NO_LABELS: Final = "no person labelled this group"
_NO_ANSWERS: Final = "the judge has no probability for a label of this group"


@dataclass(frozen=True)
class MissingShare:
    """The share of the judge's answers that are missing, of `n` units that it was asked about; None if `n` is 0."""

    name: str
    missing: int
    n: int
    estimate: float | None
    low: float | None
    high: float | None
    confidence_level: float


@dataclass(frozen=True)
class GroupQuality:
    """A judge on one group of labels, such as those of a bot; `people` is the share of "human" among people's labels.

    `judge` is the mean probability, `bias` is `judge` minus `people`. All use the `n` labels of units for which there
    is a probability; `n_missing` further labels have none. `reason` says why there are no numbers.
    """

    name: str
    people: ClusteredMean
    judge: ClusteredMean
    bias: ClusteredMean
    brier: ClusteredMean
    n: int
    n_missing: int
    reason: str | None


def missing_shares(
    names: Sequence[str],
    group: IntArray,
    conversation: ArrayLike,
    probability: ArrayLike,
    *,
    confidence_level: float = 0.95,
) -> tuple[MissingShare, ...]:
    """Count the missing probabilities of units (n,) for each of `names`; `group` (n,) has indices into `names`.

    A row is a unit, whether or not people labelled it. Raises `SettingOutOfRange` and `ColumnMalformed`.

    >>> [each.estimate for each in missing_shares(["A", "B"], np.array([0, 0, 1]), [0, 1, 2], [0.5, None, 0.1])]
    [0.5, 0.0]
    """
    require_confidence_level(confidence_level)
    found, conversations = read_probabilities(probability), read_codes(conversation, "conversation").code
    require_one_length(group=group, conversation=conversations, probability=found)
    _require_groups(names, group)
    absent = np.isnan(found)
    share, n, influence = shares_of(group, absent.astype(np.float64), len(names))
    variance = clustered_variance(Observations(conversations, conversations), influence, Clusters.CONVERSATION)
    low, high = share_bounds(share, n, variance, confidence_level)
    return tuple(
        MissingShare(
            name=name,
            missing=int(absent[group == at].sum()),
            n=int(n[at]),
            estimate=defined(share[at]),
            low=defined(low[at]),
            high=defined(high[at]),
            confidence_level=confidence_level,
        )
        for at, name in enumerate(names)
    )


def quality_by_group(
    names: Sequence[str],
    group: IntArray,
    labels: ScoredLabels,
    *,
    clusters: Clusters = Clusters.BOTH,
    confidence_level: float = 0.95,
) -> tuple[GroupQuality, ...]:
    """Return the judge's quality for each of `names`; `group` has the index of each label's (n,) group.

    Raises `SettingOutOfRange`.
    """
    clusters = choice_of("clusters", clusters, Clusters)
    require_confidence_level(confidence_level)
    require_one_length(group=group, human=labels.human)
    _require_groups(names, group)
    kept, of = labels.select(labels.known), group[labels.known]
    given = np.bincount(group, minlength=len(names))
    y, p = kept.human, kept.probability
    people, judge, bias, brier = (
        clustered_means(kept.observations, of, value, len(names), clusters=clusters, confidence_level=confidence_level)
        for value in (y, p, p - y, (p - y) ** 2)
    )
    return tuple(
        GroupQuality(
            name=name,
            people=people[at],
            judge=judge[at],
            bias=bias[at],
            brier=brier[at],
            n=brier[at].n,
            n_missing=int(given[at]) - brier[at].n,
            reason=None if brier[at].n else _NO_ANSWERS if given[at] else _NO_LABELS,
        )
        for at, name in enumerate(names)
    )


def order_of_bots(groups: Sequence[GroupQuality]) -> RankCorrelation:
    """Return the rank correlation of the bots' shares of "human" by people with the judge's mean probabilities.

    It compares point estimates: with few bots, or bots that people can't tell apart, it says little.
    """
    return rank_correlation(*(_estimates([getattr(each, side) for each in groups]) for side in ("people", "judge")))


def _estimates(means: Sequence[ClusteredMean]) -> FloatArray:
    return np.array([np.nan if each.estimate is None else each.estimate for each in means], dtype=np.float64)


def _require_groups(names: Sequence[str], group: IntArray) -> None:
    if np.any((group < 0) | (group >= len(names))):
        raise SettingOutOfRange(setting="group", allowed=f"codes of the {len(names)} names, from 0", value="others")
