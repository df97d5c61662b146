"""Fooling rates of speakers when their partners are people, and when their partners are bots."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from spotthebot.analytics.stats.annotations import HUMAN, AnnotationTable, LabelCode
from spotthebot.analytics.stats.bootstrap import require_confidence_level
from spotthebot.analytics.stats.rating_estimates import RatingEstimates, Ratings, in_units
from spotthebot.statistics.adjustment import Adjustment, adjust
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.uncertainty import Clusters, Uncertainty

METHOD: Final = "Student's t of the difference of fooling rates with people and with bots"
_ALIKE: Final = "all its labels are alike, so nothing tells how others would differ"


@dataclass(frozen=True)
class PartnerDifference:
    """A speaker's fooling rate with people minus that with bots, with bounds and a test.

    `n_with_people` and `n_with_bots` count labels. Without a variance there are neither bounds nor p-values, and
    `reason` says why. `p_adjusted` is for all speakers who talked with both.
    """

    bot: str
    estimate: float
    low: float | None
    high: float | None
    p_value: float | None
    p_adjusted: float | None
    n_with_people: int
    n_with_bots: int
    uncertainty: Uncertainty
    reason: str | None


def with_people(table: AnnotationTable) -> AnnotationTable:
    """Return the annotations of conversations of people with bots."""
    if HUMAN not in table.names:
        return table.select(np.zeros(len(table), dtype=np.bool_))
    return table.select((table.entity == table.names.index(HUMAN)).sum(axis=1) == 1)


def partner_differences(
    table: AnnotationTable,
    *,
    confidence_level: float = 0.95,
    clusters: Clusters = Clusters.BOTH,
    adjustment: Adjustment = Adjustment.HOLM,
) -> tuple[PartnerDifference, ...]:
    """Compare each bot's fooling rate with people and with bots, for the bots that talked with both.

    Labels of one text vary together, and so do labels of one annotator: variances and degrees of freedom are those of
    `rating_differences`, with a bot's labels in the two kinds of conversations as two rated things. The bounds hold for
    one difference alone. Conversations of a bot with itself count as conversations with a bot. Raises
    `SettingOutOfRange`.

    >>> from spotthebot.analytics.stats import AnnotationTable
    >>> rows = [(0, "A", "B", 2, "bot", "bot", 0), (1, "A", "HU", 2, "human", "human", 1)]
    >>> [(each.bot, each.estimate) for each in partner_differences(AnnotationTable.from_rows(rows))]
    [('A', 1.0)]
    """
    clusters = choice_of("clusters", clusters, Clusters)
    adjustment = choice_of("adjustment", adjustment, Adjustment)
    require_confidence_level(confidence_level)
    of_bot = np.array(table.names)[table.entity] != HUMAN
    kind = 2 * table.entity + (~of_bot[:, ::-1])  # even: with a bot, odd: with a person
    codes, rated = np.unique(kind[of_bot], return_inverse=True)
    both = [code for code in codes.tolist() if code % 2 == 0 and code + 1 in set(codes.tolist())]
    if not both:
        return ()
    sides = np.broadcast_to(np.arange(len(table))[:, None], of_bot.shape)[of_bot]
    found = RatingEstimates.of(
        Ratings(
            bots=tuple(map(str, codes.tolist())),
            bot=rated,
            item=table.text[sides],
            annotator=table.annotator[sides],
            value=(table.label[of_bot] == LabelCode.HUMAN).astype(np.float64),
            scale=(0.0, 1.0),
        ),
        clusters,
    )
    place = {code: at for at, code in enumerate(codes.tolist())}
    pair = {(first, second): at for at, (first, second) in enumerate(zip(found.first, found.second, strict=True))}
    chosen = [pair[place[code], place[code + 1]] for code in both]
    p_values = found.p_values()[chosen]
    adjusted = adjust(p_values, adjustment)
    reach = (found.differences.quantiles(confidence_level) * found.errors)[chosen]
    compared = []
    for at, code in enumerate(both):
        uncertainty = in_units(found.differences.uncertainty(chosen[at]), found.unit)
        lead = -found.leads[chosen[at]]
        compared.append(
            PartnerDifference(
                bot=table.names[code // 2],
                estimate=float(lead * found.unit),
                low=defined((lead - reach[at]) * found.unit),
                high=defined((lead + reach[at]) * found.unit),
                p_value=defined(p_values[at]),
                p_adjusted=defined(adjusted[at]),
                n_with_people=int(found.n[place[code + 1]]),
                n_with_bots=int(found.n[place[code]]),
                uncertainty=uncertainty,
                reason=(uncertainty.reason or _ALIKE) if np.isnan(p_values[at]) else None,
            )
        )
    return tuple(compared)
