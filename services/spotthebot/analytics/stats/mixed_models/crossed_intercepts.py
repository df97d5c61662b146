"""Linear algebra of two crossed groupings of rows, each with a random intercept for each group.

Both models need the matrix I + L Z' W Z L (q, q): Z has the indicators of all q groups, L their standard deviations, W
weights of the rows. The block of each grouping is diagonal. So the larger grouping is eliminated by division, and the
smaller one by a dense Cholesky factor (Bates et al. 2015, Fitting linear mixed-effects models using lme4, section 5).
"""

from dataclasses import dataclass

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class CrossedIntercepts:
    """Two groupings of n rows as codes (n,), the one with more groups first. A code stands for each of `sizes` groups.

    Arrays (q,) have a number for each group: all of the first grouping, then all of the second.
    """

    first: IntArray
    second: IntArray
    sizes: tuple[int, int]

    @classmethod
    def of(cls, first: IntArray, second: IntArray) -> "CrossedIntercepts":
        return cls(first, second, (int(first.max()) + 1, int(second.max()) + 1))

    def sums(self, column: FloatArray) -> FloatArray:
        """Return Z' times a column (n,): its sum in each group (q,)."""
        return np.concatenate(
            [
                np.bincount(self.first, weights=column, minlength=self.sizes[0]),
                np.bincount(self.second, weights=column, minlength=self.sizes[1]),
            ]
        )

    def table(self, weight: FloatArray) -> FloatArray:
        """Return the sums of weights (n,) in each pair of groups, as a matrix of the two `sizes`."""
        cells = np.bincount(
            self.first * self.sizes[1] + self.second, weights=weight, minlength=int(np.prod(self.sizes))
        )
        return np.asarray(cells, dtype=np.float64).reshape(self.sizes)

    def of_groups(self, deviations: FloatArray) -> FloatArray:
        """Return a number for each group (q,) from one for each grouping (2,)."""
        return np.repeat(deviations, self.sizes)

    def split(self, groups: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return numbers of groups (q, ...) of the first and of the second grouping."""
        return groups[: self.sizes[0]], groups[self.sizes[0] :]

    def spread(self, groups: FloatArray) -> FloatArray:
        """Return Z times numbers of groups (q,): the sum of its two groups' numbers for each row (n,)."""
        one, other = self.split(groups)
        found: FloatArray = one[self.first] + other[self.second]
        return found


@dataclass(frozen=True, eq=False)
class Penalised:
    """The matrix I + L Z' W Z L in factors.

    `table` has the weights of pairs of groups, `deviations` (2,) the diagonal of L for each grouping.
    """

    table: FloatArray
    deviations: FloatArray
    diagonal: FloatArray
    ratio: FloatArray
    cholesky: FloatArray

    @classmethod
    def of(cls, table: FloatArray, deviations: FloatArray) -> "Penalised":
        """Factor the matrix. Raises `numpy.linalg.LinAlgError` if a weight is not finite."""
        one, other = deviations
        diagonal = 1 + one**2 * table.sum(axis=1)
        cross = one * other * table
        ratio = cross / diagonal[:, None]
        rest = np.diag(1 + other**2 * table.sum(axis=0)) - cross.T @ ratio
        return cls(table, deviations, diagonal, ratio, np.linalg.cholesky(rest))

    @property
    def log_determinant(self) -> float:
        return float(np.log(self.diagonal).sum() + 2 * np.log(np.diag(self.cholesky)).sum())

    def solve(self, right: FloatArray) -> FloatArray:
        """Return the solution (q,) or (q, m) for right-hand sides of this shape."""
        at = len(self.diagonal)
        other = scipy.linalg.cho_solve((self.cholesky, True), right[at:] - self.ratio.T @ right[:at])
        own = right[:at] / (self.diagonal if right.ndim == 1 else self.diagonal[:, None])
        return np.concatenate([own - self.ratio @ other, other])

    def inverse(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the inverse's diagonal for the first grouping, its block of pairs, and the second's diagonal."""
        block = scipy.linalg.cho_solve((self.cholesky, True), np.eye(len(self.cholesky)))
        pairs = -self.ratio @ block
        return 1 / self.diagonal - np.sum(self.ratio * pairs, axis=1), pairs, np.diag(block)

    def slopes(self) -> FloatArray:
        """Return the derivatives of the log determinant by the two deviations (2,), with fixed weights."""
        own, pairs, other = self.inverse()
        crossed = float(np.sum(self.table * pairs))
        one, two = self.deviations
        return 2 * np.array(
            [
                one * float(self.table.sum(axis=1) @ own) + two * crossed,
                two * float(self.table.sum(axis=0) @ other) + one * crossed,
            ]
        )
