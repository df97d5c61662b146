"""The input of these statistics, as columns: one row for each label of a person, with the judge's probability."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray
from spotthebot.statistics.clustered_variance import Observations
from spotthebot.statistics.columns import read_codes, read_numbers
from spotthebot.statistics.errors import SettingOutOfRange

NOTHING: Final = "no person labelled a unit for which the judge has a probability"


@dataclass(frozen=True, eq=False)
class ScoredLabels:
    """Labels of people (n,) with the judge's probability for the same unit.

    `human` is 1 if the person's label was "human", else 0. `probability` is from 0 to 1, or NaN if the judge's answer
    is missing; all rows of a unit have the same. `unit`, `conversation` and `annotator` may be names; they are coded.
    Raises `SettingOutOfRange` and `ColumnMalformed`.
    """

    unit: IntArray
    conversation: IntArray
    annotator: IntArray
    human: FloatArray
    probability: FloatArray

    def __post_init__(self) -> None:
        for name in ("unit", "conversation", "annotator"):
            object.__setattr__(self, name, read_codes(getattr(self, name), name).code)
        object.__setattr__(self, "human", read_numbers(self.human, "human", finite=True))
        object.__setattr__(self, "probability", read_probabilities(self.probability))
        require_one_length(
            unit=self.unit,
            conversation=self.conversation,
            annotator=self.annotator,
            human=self.human,
            probability=self.probability,
        )
        if not np.isin(self.human, (0.0, 1.0)).all():
            raise SettingOutOfRange(setting="human", allowed="0 or 1", value="others")
        _, first, at = np.unique(self.unit, return_index=True, return_inverse=True)
        if not np.array_equal(self.probability[first][at], self.probability, equal_nan=True):
            raise SettingOutOfRange(setting="probability", allowed="the same for all labels of a unit", value="others")
        if np.any(self.conversation[first][at] != self.conversation):
            raise SettingOutOfRange(setting="conversation", allowed="the same for all labels of a unit", value="others")

    def __len__(self) -> int:
        return len(self.human)

    @property
    def known(self) -> BoolArray:
        """Return which rows have a probability (n,)."""
        return ~np.isnan(self.probability)

    def select(self, rows: BoolArray | IntArray) -> "ScoredLabels":
        return ScoredLabels(
            self.unit[rows], self.conversation[rows], self.annotator[rows], self.human[rows], self.probability[rows]
        )

    @property
    def observations(self) -> Observations:
        """Return the conversations and the annotators of the labels."""
        return Observations(self.conversation, self.annotator)


def read_probabilities(column: ArrayLike, name: str = "probability") -> FloatArray:
    """Return probabilities (n,) with NaN for missing ones. Raises `SettingOutOfRange` and `ColumnMalformed`."""
    found = read_numbers(column, name)
    if np.any((found < 0) | (found > 1)):
        raise SettingOutOfRange(setting=name, allowed="from 0 to 1, or missing", value="others")
    return found


def require_one_length(**columns: FloatArray | IntArray) -> None:
    """Raise `SettingOutOfRange` unless all columns have one dimension and the same length."""
    shapes = {each.shape for each in columns.values()}
    if len(shapes) > 1 or any(len(shape) != 1 for shape in shapes):
        found = ", ".join(str(each.shape) for each in columns.values())
        raise SettingOutOfRange(setting=" and ".join(columns), allowed="columns of one length", value=found)
