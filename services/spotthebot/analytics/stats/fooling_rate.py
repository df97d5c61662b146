"""How often a bot passes for a human: the counts of its labels, and the share of the label "human"."""

from dataclasses import dataclass

import numpy as np

from spotthebot.analytics.stats.annotations import HUMAN, AnnotationTable, LabelCode
from spotthebot.analytics.stats.bootstrap import require_confidence_level
from spotthebot.analytics.stats.rating_estimates import Ratings
from spotthebot.analytics.stats.share_intervals import METHOD, share_bounds
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.clustered_variance import Observations, clustered_variance, shares_of
from spotthebot.statistics.uncertainty import Clusters, Uncertainty


@dataclass(frozen=True)
class FoolingRate:
    """The labels of one entity. `estimate` is the share of "human"; without labels, it and its bounds are None."""

    bot: str
    human: int
    unsure: int
    bot_labels: int
    n: int
    estimate: float | None
    low: float | None
    high: float | None
    confidence_level: float
    method: str
    uncertainty: Uncertainty


def fooling_rates(
    table: AnnotationTable, *, confidence_level: float = 0.95, clusters: Clusters = Clusters.BOTH
) -> tuple[FoolingRate, ...]:
    """Count each entity's labels over all rows and both sides.

    Entities, including humans, are in the order of `table.names`.

    >>> from spotthebot.analytics.stats import AnnotationTable
    >>> rows = [(0, "A", "HU", 2, "bot", "human", 0), (0, "A", "HU", 2, "human", "human", 1)]
    >>> table = AnnotationTable.from_rows(rows)
    >>> [(each.bot, each.estimate) for each in fooling_rates(table)]
    [('A', 0.5), ('HU', 1.0)]
    """
    clusters = choice_of("clusters", clusters, Clusters)
    require_confidence_level(confidence_level)
    e, n_labels = len(table.names), len(LabelCode)
    entity, label = table.entity.ravel(), table.label.ravel()
    counts = np.bincount(entity * n_labels + label, minlength=e * n_labels).reshape(e, n_labels)
    share, n, influence = shares_of(entity, (label == LabelCode.HUMAN).astype(np.float64), e)
    sides = Observations(np.repeat(table.text, 2), np.repeat(table.annotator, 2))
    variance = clustered_variance(sides, influence, clusters)
    low, high = share_bounds(share, n, variance, confidence_level)
    return tuple(
        FoolingRate(
            bot=name,
            human=int(labels[LabelCode.HUMAN]),
            unsure=int(labels[LabelCode.UNSURE]),
            bot_labels=int(labels[LabelCode.BOT]),
            n=int(n[i]),
            estimate=defined(share[i]),
            low=defined(low[i]),
            high=defined(high[i]),
            confidence_level=confidence_level,
            method=METHOD,
            uncertainty=variance.uncertainty(i),
        )
        for i, (name, labels) in enumerate(zip(table.names, counts, strict=True))
    )


def labels_as_ratings(table: AnnotationTable) -> Ratings:
    """Return the labels of bots as ratings: 1 for "human", otherwise 0. A bot's mean rating is its fooling rate.

    Items are texts. So `rank_ratings` ranks bots by fooling rate, and `rating_differences` compares all pairs. No two
    bots need to have met. Labels of people are left out, since people have no rank.

    >>> from spotthebot.analytics.stats import AnnotationTable
    >>> rows = [(0, "A", "HU", 2, "bot", "human", 0), (1, "HU", "B", 2, "human", "human", 1)]
    >>> ratings = labels_as_ratings(AnnotationTable.from_rows(rows))
    >>> [ratings.bots[bot] for bot in ratings.bot], ratings.value.tolist()
    (['A', 'B'], [0.0, 1.0])
    """
    names = np.array(table.names)
    of_bot = (names != HUMAN)[table.entity.ravel()]
    codes, bot = np.unique(table.entity.ravel()[of_bot], return_inverse=True)
    return Ratings(
        bots=tuple(table.names[code] for code in codes.tolist()),
        bot=bot,
        item=np.repeat(table.text, 2)[of_bot],
        annotator=np.repeat(table.annotator, 2)[of_bot],
        value=(table.label.ravel()[of_bot] == LabelCode.HUMAN).astype(np.float64),
        scale=(0.0, 1.0),
    )
