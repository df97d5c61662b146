"""Which of two bots is better: an exact sign test for each pair, adjusted for the number of pairs."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy import stats

from spotthebot.analytics.stats.annotations import FloatArray
from spotthebot.analytics.stats.wins import PairCounts


class Adjustment(StrEnum):
    """How p-values of one family are adjusted; Holm is never less powerful than Bonferroni."""

    HOLM = "holm"
    BONFERRONI = "bonferroni"
    NONE = "none"


@dataclass(frozen=True)
class SignTest:
    """One pair's exact two-sided sign test; `n` counts the decided games, `estimate` is the share that `bot` won."""

    bot: str
    other: str
    wins: int
    losses: int
    ties: int
    n: int
    estimate: float | None
    p_value: float
    p_adjusted: float
    method: str
    adjustment: Adjustment


def sign_tests(counts: PairCounts, *, adjustment: Adjustment = Adjustment.HOLM) -> tuple[SignTest, ...]:
    """Test every unordered pair against even odds, ties dropped; a pair without decided games has p = 1."""
    pairs = counts.pairs()
    wins = np.array([pair.wins for pair in pairs], dtype=np.int64)
    losses = np.array([pair.losses for pair in pairs], dtype=np.int64)
    p_values = np.minimum(1.0, 2 * stats.binom.cdf(np.minimum(wins, losses), wins + losses, 0.5))
    adjusted = adjust(p_values, adjustment)
    return tuple(
        SignTest(
            bot=pair.bot,
            other=pair.other,
            wins=pair.wins,
            losses=pair.losses,
            ties=pair.ties,
            n=pair.wins + pair.losses,
            estimate=pair.estimate,
            p_value=float(p_value),
            p_adjusted=float(p_adjusted),
            method="exact sign test",
            adjustment=adjustment,
        )
        for pair, p_value, p_adjusted in zip(pairs, p_values, adjusted, strict=True)
    )


def adjust(p_values: FloatArray, adjustment: Adjustment = Adjustment.HOLM) -> FloatArray:
    """Adjust one family of p-values (m,); a NaN is a test that was not made and does not count into the family."""
    adjusted = np.array(p_values, dtype=np.float64)
    made = np.flatnonzero(~np.isnan(adjusted))
    if adjustment is Adjustment.BONFERRONI:
        adjusted[made] = np.minimum(1.0, adjusted[made] * len(made))
    elif adjustment is Adjustment.HOLM:
        ascending = made[np.argsort(adjusted[made], kind="stable")]
        factors = np.arange(len(made), 0, -1)
        adjusted[ascending] = np.minimum(1.0, np.maximum.accumulate(adjusted[ascending] * factors))
    return adjusted
