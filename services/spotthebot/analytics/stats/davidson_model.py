"""Davidson's model of wins, losses and ties: its fit, and the influence of each game. `davidson` has the estimates."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.rating_variance import RatingInfluence
from spotthebot.analytics.stats.wins import Games

_ITERATIONS: Final = 100
_SMALLEST_GAIN: Final = 1e-20
_SMALLEST_SEPARATION: Final = 1e-6
"""Relative to a sum whose terms reach 1; the solver is exact to 1e-7."""


@dataclass(frozen=True, eq=False)
class DavidsonModel:
    """A fit: log-strengths (k,) that sum to 0, their covariance (k, k) for independent games, and nu.

    `parameters` (d,) are the parameters of the likelihood; `covariance` (k, d) relates the strengths to the parameters.
    """

    parameters: FloatArray
    strengths: FloatArray
    covariance: FloatArray
    model_covariance: FloatArray
    tie: float
    log_likelihood: float


def is_separated(wins: FloatArray, ties: FloatArray) -> bool:
    """Return whether the likelihood grows without limit in some direction of the parameters."""
    if scipy.sparse.csgraph.connected_components(wins, directed=True, connection="strong")[0] == 1:
        return False
    design, observed = _design(wins, ties)
    outcomes = observed.shape[1]
    better = []
    for outcome in range(outcomes):
        seen = np.flatnonzero(observed[:, outcome] > 0) * outcomes
        better += [design[seen + outcome] - design[seen + other] for other in range(outcomes) if other != outcome]
    gains = scipy.sparse.vstack(better, format="csr")
    # The direction with the largest gain, among those in which no observed outcome becomes less likely.
    best = scipy.optimize.linprog(
        -np.asarray(gains.sum(axis=0)).ravel(),
        A_ub=scipy.sparse.vstack([-gains, gains]),
        b_ub=np.repeat([0.0, 1.0], gains.shape[0]),
        bounds=(None, None),
    )
    return -float(best.fun or 0.0) > _SMALLEST_SEPARATION


def _design(wins: FloatArray, ties: FloatArray) -> "tuple[scipy.sparse.csr_array, FloatArray]":
    """Return the factors (pairs times outcomes, parameters) of the parameters, and the counts (pairs, outcomes).

    Only pairs that met are in them. The outcomes are wins of the first bot, wins of the second, and ties. The
    parameters are the log-strengths and, if there are ties, log nu.
    """
    k, has_ties = len(wins), bool(ties.any())
    first, second = np.triu_indices(k, 1)
    observed = np.column_stack([wins[first, second], wins[second, first], ties[first, second]][: 2 + has_ties])
    kept = observed.sum(axis=1) > 0
    observed, first, second = observed[kept], first[kept], second[kept]
    of_pair = np.arange(len(first)) * observed.shape[1]
    rows, columns, factors = [of_pair, of_pair + 1], [first, second], [1.0, 1.0]
    if has_ties:
        rows += [of_pair + 2] * 3
        columns += [first, second, np.full(len(first), k)]
        factors += [0.5, 0.5, 1.0]
    factor = np.repeat(factors, len(first))
    shape = (observed.size, k + has_ties)
    return scipy.sparse.csr_array((factor, (np.concatenate(rows), np.concatenate(columns))), shape=shape), observed


def fit_davidson(wins: FloatArray, ties: FloatArray) -> DavidsonModel:
    """Maximise the likelihood of `wins` (k, k) and `ties` (k, k). The likelihood must have a maximum.

    `ties` are read only above the diagonal.
    """
    k = len(wins)
    design, observed = _design(wins, ties)
    d = design.shape[1]
    has_ties = d > k
    games = observed.sum(axis=1)
    parameters = np.zeros(d)
    likelihood, gradient, information = _slopes(design, observed, games, parameters)
    for _ in range(_ITERATIONS):
        step = np.linalg.pinv(information, hermitian=True) @ gradient
        if gradient @ step < _SMALLEST_GAIN:
            break
        length = 1.0
        moved = _slopes(design, observed, games, parameters + step)
        while moved[0] < likelihood - 1e-12 * (1 + abs(likelihood)) and length > 1e-10:
            length /= 2
            moved = _slopes(design, observed, games, parameters + length * step)
        parameters = parameters + length * step
        likelihood, gradient, information = moved
    covariance = np.linalg.pinv(information, hermitian=True)
    strengths = parameters[:k] - parameters[:k].mean()
    centring = np.eye(k, d)
    centring[:, :k] -= 1 / k
    return DavidsonModel(
        parameters=parameters,
        strengths=strengths,
        covariance=centring @ covariance,
        model_covariance=centring @ covariance @ centring.T,
        tie=float(np.exp(parameters[k])) if has_ties else 0.0,
        log_likelihood=likelihood,
    )


def influence_of_games(games: Games, met: IntArray, fit: DavidsonModel | None) -> RatingInfluence:
    """Return the influence of each game on each strength. Without a fit, no game has an influence."""
    n, n_bots = len(games), len(games.bots)
    if fit is None:
        return RatingInfluence(scipy.sparse.csr_array((n, 1)), np.zeros((1, n_bots)))
    k, d = len(met), len(fit.parameters)
    place = np.zeros(n_bots, dtype=np.int64)
    place[met] = np.arange(k)
    first, second = place[games.first], place[games.second]
    of_first, of_second = fit.parameters[first], fit.parameters[second]
    tie = (of_first + of_second) / 2 + fit.parameters[k] if d > k else np.full(n, -np.inf)
    scores = np.column_stack([of_first, of_second, tie])
    scores -= scores.max(axis=1, keepdims=True)
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    # Whether each outcome was observed, minus its probability.
    won, lost, tied = (np.column_stack([games.outcome > 0, games.outcome < 0, games.outcome == 0]) - shares).T
    value, parameter = [won + tied / 2, lost + tied / 2], [first, second]
    if d > k:
        value.append(tied)
        parameter.append(np.full(n, k))
    game = np.tile(np.arange(n), len(value))
    moves = np.zeros((d, n_bots))
    moves[:, met] = fit.covariance.T
    return RatingInfluence(
        scipy.sparse.csr_array((np.concatenate(value), (game, np.concatenate(parameter))), shape=(n, d)), moves
    )


def _slopes(
    design: "scipy.sparse.csr_array", observed: FloatArray, games: FloatArray, parameters: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    scores = (design @ parameters).reshape(observed.shape)
    scores -= scores.max(axis=1, keepdims=True)
    proportions = np.exp(scores)
    totals = proportions.sum(axis=1, keepdims=True)
    shares = proportions / totals
    likelihood = float(np.sum(observed * (scores - np.log(totals))))
    gradient = design.T @ (observed - games[:, None] * shares).ravel()
    weighted = design * np.sqrt(games[:, None] * shares).ravel()[:, None]
    n, outcomes = observed.shape
    pair = scipy.sparse.csr_array(
        (np.sqrt(shares).ravel(), (np.repeat(np.arange(n), outcomes), np.arange(n * outcomes)))
    )
    mean = pair @ weighted
    return likelihood, gradient, (weighted.T @ weighted - mean.T @ mean).toarray()
