"""Columns with the values of several measures of the same dialogues, and the outcome to which they are compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray
from spotthebot.analytics.stats.assessment.importance import Importance, Model, importance
from spotthebot.contracts.annotation.measures import MeasureLevel
from spotthebot.statistics.annotator_sets import annotator_sets
from spotthebot.statistics.clustered_variance import Observations
from spotthebot.statistics.columns import unit_of
from spotthebot.statistics.uncertainty import Clusters

_MAX_SETS: Final = 5000
_MAX_SUBSETS: Final = 20_000_000
"""More sets of annotators, and larger ones, do not fit into memory: clusters are texts alone then."""


@dataclass(frozen=True, eq=False)
class Dialogues:
    """Dialogues as columns (d,): for each dialogue the code of its bot (in `bots`), and of its text.

    A dialogue is the part of one bot in one conversation. Dialogues with the same text vary together.
    """

    bots: tuple[str, ...]
    bot: IntArray
    text: IntArray


@dataclass(frozen=True, eq=False)
class MeasuredValues:
    """The n values of one measure. For each value: the codes, from 0, of its dialogue, its turn and its annotator.

    `annotator` is None if the annotators are unknown. `minutes` is the median time that an annotator takes for one
    dialogue. `compared` is the code of the comparison in which a value may be a preference; None if no value is one.
    """

    name: str
    level: MeasureLevel
    dialogue: IntArray
    turn: IntArray
    annotator: IntArray | None
    value: FloatArray
    minutes: float | None = None
    compared: IntArray | None = None

    @property
    def unit(self) -> IntArray:
        """Return a code (n,) of the rated unit of each value.

        Values of the same unit come from different annotators.
        """
        return self.dialogue * (int(self.turn.max(initial=0)) + 1) + self.turn

    def means(self, n_dialogues: int) -> FloatArray:
        """Return the mean value of each dialogue (d,). It is NaN for a dialogue without values.

        The means are scaled so that they can be squared without overflow.
        """
        n = np.bincount(self.dialogue, minlength=n_dialogues)
        sums = np.bincount(self.dialogue, weights=self.value / unit_of(self.value), minlength=n_dialogues)
        return np.asarray(np.divide(sums, n, out=np.full(n_dialogues, np.nan), where=n > 0))

    def clusters(self, asked: Clusters) -> Clusters:
        """Return the clusters of the variance. Annotators are clusters only if there are several."""
        if not asked.has_annotators:
            return asked
        if self.annotator is None:
            return Clusters.CONVERSATION
        return asked if len(np.unique(self.annotator)) > 1 else Clusters.FIXED_PANEL

    @property
    def who(self) -> IntArray:
        """Return a code (n,) of the annotator of each value. If annotators are unknown, each value has its own."""
        return np.arange(len(self.value)) if self.annotator is None else self.annotator


def preferences_of(values: MeasuredValues, dialogues: Dialogues) -> tuple[IntArray, IntArray] | None:
    """Return the rows of the two dialogues of each of m comparisons, (m,) each; the bot with the lower code is first.

    Return None unless all values are preferences. In a preference an annotator gives 1 to one of two compared dialogues
    and 0 to the other, or 0.5 to both.
    """
    item, n = values.compared, len(values.value)
    if item is None or not n or n % 2 or not np.isin(values.value, (0.0, 0.5, 1.0)).all():
        return None
    bot = dialogues.bot[values.dialogue]
    annotator = np.zeros(len(bot), dtype=np.int64) if values.annotator is None else values.annotator
    order = np.lexsort((bot, annotator, values.turn, item))
    first, second = order[::2], order[1::2]
    keys = np.column_stack([item, values.turn, annotator])
    compared = np.all(keys[first] == keys[second]) and np.all(bot[first] < bot[second])
    alone = not np.any(np.all(keys[second[:-1]] == keys[first[1:]], axis=1))
    complement = np.all(values.value[first] + values.value[second] == 1)
    return (first, second) if compared and alone and complement else None


@dataclass(frozen=True, eq=False)
class Target:
    """The r outcomes that measures have to explain.

    An outcome is a dialogue's value, or which of two dialogues is preferred.

    Row i is about the dialogue `first[i]`, or about its difference from the dialogue `second[i]`. The observation of a
    row has the set of people who rated the outcome.
    """

    name: str
    outcome: FloatArray
    first: IntArray
    second: IntArray | None
    model: Model
    observations: Observations
    clusters: Clusters

    @classmethod
    def of(cls, values: MeasuredValues, dialogues: Dialogues, clusters: Clusters) -> "Target":
        """Return the outcomes of dialogues, or of pairs of dialogues of which one was preferred."""
        pairs = preferences_of(values, dialogues)
        rows = np.arange(len(values.value)) if pairs is None else pairs[0]
        n = len(dialogues.bot)
        key = values.dialogue if pairs is None else values.dialogue[pairs[0]] * n + values.dialogue[pairs[1]]
        keys, at = np.unique(key, return_inverse=True)
        unit = 1.0 if pairs else unit_of(values.value)
        sums = np.bincount(at, weights=values.value[rows] / unit, minlength=len(keys))
        mean = sums / np.bincount(at, minlength=len(keys))
        kept = np.ones(len(keys), dtype=np.bool_) if pairs is None else mean != 0.5
        first, second = (keys, None) if pairs is None else (keys // n, keys % n)
        model, outcome = Model.WITHIN_PAIRS, (mean > 0.5).astype(np.float64)
        if pairs is None:
            two = len(np.unique(mean)) == 2
            model, outcome = (Model.LOGISTIC, (mean == mean.max()).astype(np.float64)) if two else (Model.LINEAR, mean)
        people, members = annotator_sets(at, values.who[rows])
        sizes = np.diff(members.indptr)
        own = values.clusters(clusters)
        if own.has_annotators and len(sizes) > _MAX_SETS and np.sum(2.0**sizes) > _MAX_SUBSETS:
            own = Clusters.CONVERSATION
        return cls(
            name=values.name,
            outcome=outcome[kept],
            first=first[kept],
            second=None if second is None else second[kept],
            model=model,
            observations=Observations(dialogues.text[first[kept]], people[kept], members),
            clusters=own,
        )

    def predictor(self, means: FloatArray) -> FloatArray:
        """Return the values (r,) of a measure for the outcomes, from its means (d,) of dialogues.

        An outcome without a value has NaN.
        """
        return means[self.first] if self.second is None else means[self.first] - means[self.second]

    def importance(self, predictor: FloatArray) -> Importance:
        """Return how well a measure explains the outcome. Rows without a value of the measure are left out."""
        known = ~np.isnan(predictor)
        who = self.observations
        observations = Observations(who.conversation[known], who.annotator[known], who.members)
        return importance(self.outcome[known], predictor[known], observations, model=self.model, clusters=self.clusters)

    def complete(self, predictors: Sequence[FloatArray]) -> BoolArray:
        """Return which rows (r,) have values of all measures."""
        return np.asarray(np.all([~np.isnan(each) for each in predictors], axis=0))
