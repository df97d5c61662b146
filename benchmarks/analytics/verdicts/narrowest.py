"""The narrowest bounds that annotations allow, which cost a twentieth of the real ones.

Most looks decide nothing. If even the narrowest bounds of a look change nothing, its real bounds need not be computed.
"""

import numpy as np

from spotthebot.analytics.stats.annotations import AnnotationTable, FloatArray, IntArray
from spotthebot.analytics.stats.verdict_bounds import LEAST_CORRELATION, PairBounds


class Arriving:
    """The games of three bots in the order of arrival, as columns."""

    def __init__(self, table: AnnotationTable) -> None:
        low, high = table.entity.min(axis=1), table.entity.max(axis=1)
        outcome = np.sign(table.label[:, 0] - table.label[:, 1]) * np.where(table.entity[:, 0] == low, 1, -1)
        self._pair, self._won, self._decided = low + high - 1, outcome > 0, outcome != 0
        self._conversation, self._annotator = table.conversation, table.annotator

    def bounds(self, n: int) -> tuple[FloatArray, FloatArray]:
        """Return after n annotations each pair's difference of win rates (3,) and the least reach of its bounds."""
        rows = np.flatnonzero(self._decided[:n])
        pair = self._pair[rows]
        games = np.bincount(pair, minlength=3)
        wins = np.bincount(pair, weights=self._won[rows], minlength=3)
        rate = np.divide(wins, games, out=np.full(3, np.nan), where=games > 0)
        others = [_others(pair, cluster[rows], games) for cluster in (self._annotator, self._conversation)]
        busy = np.bincount(self._annotator[rows]).astype(np.float64)
        first, second = np.triu_indices(3, 1)
        found = PairBounds(
            first=first,
            second=second,
            rate=rate,
            n=games,
            conversations=games,
            annotators=games,
            effect=np.where(games > 0, 1 + LEAST_CORRELATION * (others[0] + others[1]), np.nan),
            of_annotators=others[0],
            of_conversations=others[1],
            team=len(busy),
            effective_annotators=float(busy.sum() ** 2 / np.sum(busy**2)) if len(rows) else 0.0,
            contrasts=2,
        )
        return 2 * rate - 1, np.array([found.reach(at) for at in range(3)])


def _others(pair: IntArray, cluster: IntArray, games: IntArray) -> FloatArray:
    counts = np.bincount(pair + 3 * cluster, minlength=3)
    sums = np.bincount(np.arange(len(counts)) % 3, weights=counts.astype(np.float64) ** 2, minlength=3)
    return np.divide(sums, games, out=np.ones(3), where=games > 0) - 1
