"""The oracle that tests are held against: it knows the standard deviations of the same estimates."""

from typing import Final

import numpy as np

from spotthebot.analytics.stats.annotations import FloatArray

LEVEL: Final = 0.05
"""The share of campaigns of equal bots in which the oracle makes a false claim."""


def power_of_oracle(alike: FloatArray, apart: FloatArray) -> float:
    """Return the share of estimates (campaigns, m) of bots `apart` that the oracle tells from 0.

    Its critical value is that of the largest estimate over its standard deviation among equal bots, `alike`.
    """
    spread = alike.std(axis=0)
    critical = np.quantile(np.max(np.abs(alike) / spread, axis=1), 1 - LEVEL)
    return float(np.mean(np.abs(apart) / spread > critical))
