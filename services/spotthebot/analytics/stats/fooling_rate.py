"""How often a bot passes for a human: counts of the labels it got, and the share of "human" among them."""

from dataclasses import dataclass

import numpy as np

from spotthebot.analytics.stats.annotations import AnnotationTable, LabelCode
from spotthebot.analytics.stats.bootstrap import (
    cluster_counts,
    defined,
    percentile_interval,
    resampled_totals,
)
from spotthebot.analytics.stats.randomness import Seed, seed_of


@dataclass(frozen=True)
class FoolingRate:
    """Labels of one entity; `estimate` is the share labelled human, None with its bounds where nothing was labelled."""

    bot: str
    human: int
    unsure: int
    bot_labels: int
    n: int
    estimate: float | None
    low: float | None
    high: float | None
    confidence_level: float
    n_resamples: int
    method: str
    seed: int | None


def fooling_rates(
    table: AnnotationTable, *, confidence_level: float = 0.95, n_resamples: int = 1000, seed: Seed = 0
) -> tuple[FoolingRate, ...]:
    """Count each entity's labels over all rows and both sides, in the order of `table.names`, humans included.

    Bounds are percentiles of a bootstrap of whole conversations, since labels of one conversation go together.

    >>> from spotthebot.analytics.stats import AnnotationTable
    >>> rows = [(0, "A", "HU", 2, "bot", "human", 0), (0, "A", "HU", 2, "human", "human", 1)]
    >>> table = AnnotationTable.from_rows(rows)
    >>> [(each.bot, each.estimate) for each in fooling_rates(table)]
    [('A', 0.5), ('HU', 1.0)]
    """
    e, n_labels = len(table.names), len(LabelCode)
    cell = (table.entity * n_labels + table.label).ravel()
    by_conversation = cluster_counts(np.repeat(table.conversation, 2), cell, e * n_labels)
    counts = by_conversation.sum(axis=0).reshape(e, n_labels)
    replicates = resampled_totals(by_conversation, n_resamples, seed)
    drawn = replicates.reshape(n_resamples, e, n_labels)
    n_drawn = drawn.sum(axis=2)
    shares = np.divide(drawn[:, :, LabelCode.HUMAN], n_drawn, out=np.full(n_drawn.shape, np.nan), where=n_drawn > 0)
    low, high = percentile_interval(shares, confidence_level)
    return tuple(
        FoolingRate(
            bot=name,
            human=int(labels[LabelCode.HUMAN]),
            unsure=int(labels[LabelCode.UNSURE]),
            bot_labels=int(labels[LabelCode.BOT]),
            n=int(labels.sum()),
            estimate=float(labels[LabelCode.HUMAN] / labels.sum()) if labels.sum() else None,
            low=defined(low[i]),
            high=defined(high[i]),
            confidence_level=confidence_level,
            n_resamples=n_resamples,
            method="percentile bootstrap of conversations",
            seed=seed_of(seed),
        )
        for i, (name, labels) in enumerate(zip(table.names, counts, strict=True))
    )
