"""The information of interval-censored rows about an effect of groups, if the common distribution is unknown.

The distribution consists of discrete hazards, one for each cell with mass. An effect is added to the link of every
hazard. The variance of the score is the observed information about the effects, minus the part that is lost by
estimating the hazards.
"""

from enum import StrEnum

import numpy as np

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.survival.censored_times import CensoredTimes
from spotthebot.analytics.stats.survival.npmle import Npmle


class Link(StrEnum):
    """The scale on which an effect is added.

    `log(-log(1 - hazard))` is for proportional hazards; the other scale is the log odds of the hazard.
    """

    CLOGLOG = "cloglog"
    LOGIT = "logit"


def score_information(times: CensoredTimes, pooled: Npmle, membership: IntArray, k: int, link: Link) -> FloatArray:
    """Return the variance (k, k) of the scores of k groups, computed at an effect of 0."""
    support = np.flatnonzero(pooled.mass > 1e-12)
    mass = pooled.mass[support]
    first, last = np.searchsorted(support, times.first), np.searchsorted(support, times.last + 1)
    survival = np.clip(1 - np.concatenate([[0.0], np.cumsum(mass)]), 0.0, 1.0)
    survival[-1] = 0.0
    # The last hazard is 1 and has no finite link, so it is not a parameter.
    hazards = mass[:-1] / survival[:-2]
    slope, bend = _slopes(hazards, link)
    d = len(hazards)
    before = (np.arange(d) < np.arange(d + 2)[:, None]).astype(np.float64)
    # S_j is a product over hazards below j: first and second derivatives of S in the links.
    down = -before * slope * survival[:, None]
    chosen = np.zeros((len(times), k))
    chosen[np.arange(len(times)), membership] = 1.0
    probability = survival[first] - survival[last]
    jacobian = (down[first] - down[last]) / probability[:, None]
    curved_first, curved_last = (_second(at, before, slope, bend, survival) for at in (first, last))
    second = (curved_first - curved_last) / probability[:, None, None]
    hessian = second - jacobian[:, :, None] * jacobian[:, None, :]
    nuisance = -hessian.sum(axis=0)
    cross = -np.einsum("ig,iab->gb", chosen, hessian)
    own = -np.einsum("ig,ih,iab->gh", chosen, chosen, hessian)
    information: FloatArray = own - cross @ np.linalg.pinv(nuisance, hermitian=True) @ cross.T
    return information


def cumulative_information(times: CensoredTimes, pooled: Npmle, membership: IntArray, k: int) -> FloatArray:
    """Return the variance (k, k) of the scores if the log cumulative hazard at the end of every cell is unknown.

    This is Finkelstein's form (1986). Cells without mass, where the estimate is at its boundary, count too. So more is
    subtracted than for hazards.
    """
    survival = np.clip(1 - np.concatenate([[0.0], np.cumsum(pooled.mass)]), 0.0, 1.0)
    survival[-1] = 0.0
    inner = (survival > 1e-9) & (survival < 1 - 1e-9)
    cumulative = np.where(inner, -np.log(np.where(inner, survival, 0.5)), 0.0)
    down, bend = -survival * cumulative, survival * (cumulative**2 - cumulative)
    first, last, n = times.first, times.last + 1, len(times)
    probability = survival[first] - survival[last]
    rows = np.arange(n)
    jacobian, curved = np.zeros((n, len(survival))), np.zeros((n, len(survival)))
    jacobian[rows, first] += down[first] / probability
    jacobian[rows, last] -= down[last] / probability
    curved[rows, first] += bend[first] / probability
    curved[rows, last] -= bend[last] / probability
    # An effect changes all log cumulative hazards equally.
    effect, bent = jacobian.sum(axis=1), curved.sum(axis=1)
    own = np.diag(np.bincount(membership, weights=effect**2 - bent, minlength=k))
    cross = np.zeros((k, len(survival)))
    np.add.at(cross, membership, effect[:, None] * jacobian - curved)
    nuisance = jacobian.T @ jacobian - np.diag(curved.sum(axis=0))
    information: FloatArray = (
        own - cross[:, inner] @ np.linalg.pinv(nuisance[np.ix_(inner, inner)], hermitian=True) @ cross[:, inner].T
    )
    return information


def _slopes(hazards: FloatArray, link: Link) -> tuple[FloatArray, FloatArray]:
    """Return the first and second derivative of -log(1 - hazard) with respect to the link."""
    if link is Link.LOGIT:
        return hazards, hazards * (1 - hazards)
    cumulative = -np.log1p(-hazards)
    return cumulative, cumulative


def _second(at: IntArray, before: FloatArray, slope: FloatArray, bend: FloatArray, survival: FloatArray) -> FloatArray:
    inside = before[at]
    outer = (inside * slope)[:, :, None] * (inside * slope)[:, None, :]
    diagonal = np.arange(len(slope))
    outer[:, diagonal, diagonal] -= inside * bend
    curved: FloatArray = outer * survival[at][:, None, None]
    return curved
