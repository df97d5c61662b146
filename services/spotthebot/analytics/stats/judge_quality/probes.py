"""Probes of a judge: how much changes its probabilities that says nothing about the speaker.

A probe lets a judge label each unit twice: with and without a change. The effect is the mean of the probability with
the change, minus the probability without it. Changes are for example: sides in the other order (position), text that
says nothing (length), a text that gives orders to the judge (injection), other words in the prompt (template), nothing
at all (stability), or another version of the judge (drift). A planted control is the same change without its content,
such as a text of the same length without orders. The effect of the change beyond the control is that of a second
probe, whose `before` has the probabilities with the control. Units of one conversation vary together.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray
from spotthebot.analytics.stats.judge_quality.clustered_means import (
    POWER,
    ClusteredMean,
    clustered_means,
    difference_of_means,
)
from spotthebot.analytics.stats.judge_quality.columns import (
    ScoredLabels,
    read_probabilities,
    require_one_length,
)
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.clustered_variance import Observations
from spotthebot.statistics.columns import read_codes
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.uncertainty import Clusters

EVEN: Final = 0.5


@dataclass(frozen=True)
class Probe:
    """The effect of a change on a judge's probabilities, over the units that have both.

    `shift` is the mean change; `distance` the mean absolute change; `flips` the share of units that go from one side of
    even odds to the other (from "human" to not, or back). `n_missing` units lack one of the probabilities.
    `n_lost` of these had a probability before the change, but none with it.
    """

    shift: ClusteredMean
    distance: ClusteredMean
    flips: ClusteredMean
    n: int
    n_missing: int
    n_lost: int
    reason: str | None


def probe(
    conversation: ArrayLike,
    before: ArrayLike,
    after: ArrayLike,
    *,
    confidence_level: float = 0.95,
    power: float = POWER,
) -> Probe:
    """Compare probabilities without (n,) and with a change (n,), of units in these conversations (n,).

    Raises `SettingOutOfRange` and `ColumnMalformed`.

    >>> found = probe([0, 1, 2, 3], [0.25, 0.5, 0.75, 0.5], [0.75, 0.5, 0.75, 0.75])
    >>> found.shift.estimate, found.distance.estimate, found.flips.estimate
    (0.1875, 0.1875, 0.25)
    """
    first, second = read_probabilities(before, "before"), read_probabilities(after, "after")
    conversations = read_codes(conversation, "conversation").code
    require_one_length(conversation=conversations, before=first, after=second)
    both = ~(np.isnan(first) | np.isnan(second))
    conversations, change = conversations[both], (second - first)[both]
    flipped = (second >= EVEN)[both] != (first >= EVEN)[both]
    shift, distance, flips = (
        clustered_means(
            Observations(conversations, conversations),
            np.zeros(len(each), dtype=np.int64),
            each,
            1,
            clusters=Clusters.CONVERSATION,
            confidence_level=confidence_level,
            power=power,
        )[0]
        for each in (change, np.abs(change), flipped.astype(np.float64))
    )
    return Probe(
        shift=shift,
        distance=distance,
        flips=flips,
        n=int(both.sum()),
        n_missing=int((~both).sum()),
        n_lost=int((~np.isnan(first) & np.isnan(second)).sum()),
        reason=shift.reason if both.any() else "no unit has both probabilities",
    )


def self_preference(
    labels: ScoredLabels,
    own: BoolArray,
    *,
    clusters: Clusters = Clusters.BOTH,
    confidence_level: float = 0.95,
    power: float = POWER,
) -> ClusteredMean:
    """Return how much more a judge favours its own kind than people do.

    `own` (n,) marks the labels of bots with the judge's own model. The estimate is the mean of the probability minus
    people's label over these, minus the same mean over the other bots. It is about these bots alone: other bots may
    differ by more than the judge's preference. Raises `SettingOutOfRange`.
    """
    clusters = choice_of("clusters", clusters, Clusters)
    if own.dtype != np.bool_ or own.shape != labels.human.shape:
        raise SettingOutOfRange(setting="own", allowed=f"{len(labels)} truth values", value=f"{own.shape} {own.dtype}")
    kept, known = labels.select(labels.known), labels.known
    residual: FloatArray = kept.probability - kept.human
    return difference_of_means(
        kept.observations,
        own[known].astype(np.int64),
        residual,
        clusters=clusters,
        confidence_level=confidence_level,
        power=power,
    )
