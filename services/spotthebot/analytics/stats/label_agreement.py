"""How often two annotators give a speaker the same label: Table 3 of Spot The Bot."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from spotthebot.analytics.stats.annotations import AnnotationTable, LabelCode
from spotthebot.analytics.stats.bootstrap import cluster_counts, defined, percentile_interval, resampled_totals
from spotthebot.analytics.stats.randomness import Seed, seed_of


class AgreementRule(StrEnum):
    """How a pair of equal labels counts: twice, as the published table has it, or once, as its words say."""

    PUBLISHED = "published"
    ONCE = "once"


@dataclass(frozen=True)
class LabelAgreement:
    """One entity and label: `agree` of the `n` labels were met by the other annotator's; None where none was given."""

    bot: str
    label: LabelCode
    agree: int
    n: int
    estimate: float | None
    low: float | None
    high: float | None
    confidence_level: float
    n_resamples: int
    method: str
    seed: int | None


def label_agreement(
    table: AnnotationTable,
    *,
    rule: AgreementRule = AgreementRule.PUBLISHED,
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    seed: Seed = 0,
) -> tuple[LabelAgreement, ...]:
    """Compare the two labels of each side of a segment, for every entity of `names` and every label.

    Segments with other than two annotations are left out, as in the paper. A label that only one of the two gave
    counts once; one that both gave counts `AgreementRule`. Bounds are percentiles of a bootstrap of conversations.

    >>> table = AnnotationTable(
    ...     names=("A", "B"),
    ...     conversation=np.array([0, 0]),
    ...     entity=np.array([[0, 1], [0, 1]]),
    ...     exchanges=np.array([2, 2]),
    ...     label=np.array([[2, 0], [2, 1]]),
    ...     annotator=np.array([0, 1]),
    ... )
    >>> [(each.bot, each.label.name, each.agree, each.n) for each in label_agreement(table) if each.n]
    [('A', 'HUMAN', 2, 2), ('B', 'BOT', 0, 1), ('B', 'UNSURE', 0, 1)]
    """
    segments = np.column_stack([table.conversation, table.exchanges])
    _, segment, sizes = np.unique(segments, axis=0, return_inverse=True, return_counts=True)
    rows = np.flatnonzero(sizes[segment] == 2)
    rows = rows[np.argsort(segment[rows], kind="stable")]
    first, second = rows[0::2], rows[1::2]
    alike = table.label[first] == table.label[second]
    e, n_labels = len(table.names), len(LabelCode)
    base = (table.entity[first] * n_labels)[:, :, None]
    labels = np.stack([table.label[first], table.label[second]], axis=2)
    met = np.broadcast_to(alike[:, :, None], labels.shape)
    # Under ONCE the second of two equal labels falls into a cell of its own, which is dropped.
    counted = (base + labels) * 2 + met
    if rule is AgreementRule.ONCE:
        counted = counted.copy()
        counted[:, :, 1][alike] = e * n_labels * 2
    by_conversation = cluster_counts(np.repeat(table.conversation[first], 4), counted.ravel(), e * n_labels * 2 + 1)
    shape = (e, n_labels, 2)
    counts = by_conversation.sum(axis=0)[:-1].reshape(shape)
    drawn = resampled_totals(by_conversation, n_resamples, seed)[:, :-1].reshape(n_resamples, *shape)
    given = drawn.sum(axis=3)
    shares = np.divide(drawn[..., 1], given, out=np.full(given.shape, np.nan), where=given > 0)
    low, high = percentile_interval(shares, confidence_level)
    return tuple(
        LabelAgreement(
            bot=name,
            label=label,
            agree=int(counts[i, label, 1]),
            n=int(counts[i, label].sum()),
            estimate=float(counts[i, label, 1] / counts[i, label].sum()) if counts[i, label].any() else None,
            low=defined(low[i, label]),
            high=defined(high[i, label]),
            confidence_level=confidence_level,
            n_resamples=n_resamples,
            method=f"segments with two annotations, agreeing pairs {rule}; percentile bootstrap of conversations",
            seed=seed_of(seed),
        )
        for i, name in enumerate(table.names)
        for label in LabelCode
    )
