"""P-values of one family of tests, adjusted for their number."""

from enum import StrEnum

import numpy as np

from spotthebot.statistics.arrays import FloatArray
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.columns import read_numbers
from spotthebot.statistics.errors import SettingOutOfRange


class Adjustment(StrEnum):
    """How the p-values of one family are adjusted. Holm's method has at least the power of Bonferroni's."""

    HOLM = "holm"
    BONFERRONI = "bonferroni"
    NONE = "none"


def adjust(p_values: FloatArray, adjustment: Adjustment = Adjustment.HOLM) -> FloatArray:
    """Adjust one family of p-values (m,). NaN stands for a test that was not made and does not belong to the family.

    Raises `SettingOutOfRange` and `ColumnMalformed`.

    >>> adjust(np.array([0.01, 0.04, 0.03, 0.005])).tolist()  # 2 of 4 ... smallest times 4, next times 3, 2, 1
    [0.03, 0.06, 0.06, 0.02]
    """
    adjustment = choice_of("adjustment", adjustment, Adjustment)
    adjusted = np.array(read_numbers(p_values, "p_values"))
    if adjusted.ndim != 1 or np.any((adjusted < 0) | (adjusted > 1)):
        raise SettingOutOfRange(setting="p_values", allowed="a column of numbers from 0 to 1", value="others")
    made = np.flatnonzero(~np.isnan(adjusted))
    if adjustment is Adjustment.BONFERRONI:
        adjusted[made] = np.minimum(1.0, adjusted[made] * len(made))
    elif adjustment is Adjustment.HOLM:
        ascending = made[np.argsort(adjusted[made], kind="stable")]
        factors = np.arange(len(made), 0, -1)
        adjusted[ascending] = np.minimum(1.0, np.maximum.accumulate(adjusted[ascending] * factors))
    return adjusted
