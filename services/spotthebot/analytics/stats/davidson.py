"""Bradley-Terry strengths with ties: Davidson's model, fitted to the games of all pairs at once.

Davidson 1970: of bots with strengths pi_i and pi_j, i wins, j wins and neither does in the proportions pi_i, pi_j and
nu * sqrt(pi_i * pi_j). It is a multinomial logit in the log-strengths, so the likelihood has one maximum. What a game
moves is its score times the inverse of the information: the sandwich of White (1982), with games that vary together.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import require_confidence_level
from spotthebot.analytics.stats.clustered_variance import ClusteredVariance, Clusters, Uncertainty
from spotthebot.analytics.stats.rating_variance import RatingInfluence, rating_parts
from spotthebot.analytics.stats.wins import Games, PairCounts, count_wins

_ITERATIONS: Final = 100
_SMALLEST_GAIN: Final = 1e-20
_SMALLEST_SEPARATION: Final = 1e-6
"""Of a sum whose terms reach 1; the solver is exact to 1e-7."""
_PENALTY: Final = " with half a win added to each side"
_SEPARATED: Final = (
    "the games put no bound on some difference of strengths, as where a bot never lost: half a win that was added to"
    " each side of every pair bounds the strengths, and nothing tells how far they may be off"
)


@dataclass(frozen=True)
class Strength:
    """One bot's log-strength with Student's bounds; those of all bots sum to 0. `n` counts its games, ties included.

    `uncertainty` has the standard error that holds for games that vary together; `model_standard_error` takes them for
    independent and the model for true. `reason` says why there is no strength or no interval.
    """

    bot: str
    estimate: float | None
    low: float | None
    high: float | None
    model_standard_error: float | None
    uncertainty: Uncertainty
    n: int
    reason: str | None


@dataclass(frozen=True)
class DavidsonFit:
    """Strengths in the order of the bots; `tie` is nu, 0 without ties and None where every game is one.

    `separated` says that the likelihood has no maximum, as where some bots never lost or tied against the others, and
    that half a win was added to either side of every pair that met. Strengths are bounded by that alone, so that they
    have no intervals. `reason` says why there is no fit.
    """

    bots: tuple[Strength, ...]
    tie: float | None
    log_likelihood: float | None
    separated: bool
    n: int
    confidence_level: float
    method: str
    reason: str | None


def rate_davidson(games: Games, *, confidence_level: float = 0.95, clusters: Clusters = Clusters.BOTH) -> DavidsonFit:
    """Fit log-strengths by Newton's method, with standard errors for games that vary together.

    The maximum exists where wins lead from every bot to every other (Ford 1957), and with ties in general if and only
    if no change of the strengths makes every outcome that was seen at least as likely as the others of its pair, and
    one more likely (Albert & Anderson 1984, quasi-complete separation). Bots that met nobody are left out; bots in two
    groups that never met cannot be compared.

    >>> from spotthebot.analytics.stats import AnnotationTable, play_games
    >>> rows = [(at, "A", "B", 2, *(("human", "bot") if at % 3 else ("bot", "human")), at % 5) for at in range(9)]
    >>> fit = rate_davidson(play_games(AnnotationTable.from_rows(rows)))
    >>> round(fit.bots[0].estimate - fit.bots[1].estimate, 6)  # without ties: the log odds, log(6 / 3)
    0.693147
    """
    require_confidence_level(confidence_level)
    counts = count_wins(games)
    played = (counts.wins + counts.wins.T + counts.ties).sum(axis=1)
    met = np.flatnonzero(played > 0)
    wins = counts.wins[np.ix_(met, met)].astype(np.float64)
    ties = np.triu(counts.ties[np.ix_(met, met)], 1).astype(np.float64)
    reason = _why_no_fit(wins, ties)
    separated = reason is None and _is_separated(wins, ties)
    if separated:
        wins += 0.5 * ((wins + wins.T + ties + ties.T) > 0)
    fit = _fit(wins, ties) if reason is None else None
    variance = rating_parts(games, _influence(games, met, fit), clusters).variances()
    return _result(counts, played, met, fit, variance, confidence_level, separated=separated, reason=reason)


@dataclass(frozen=True, eq=False)
class _Fit:
    parameters: FloatArray
    strengths: FloatArray
    covariance: FloatArray
    variances: FloatArray
    tie: float
    log_likelihood: float


def _why_no_fit(wins: FloatArray, ties: FloatArray) -> str | None:
    if not len(wins):
        return "no two bots met"
    if not wins.any():
        return "every game is a tie"
    if scipy.sparse.csgraph.connected_components(wins + ties, directed=False)[0] > 1:
        return "there are groups of bots that never met each other"
    return None


def _is_separated(wins: FloatArray, ties: FloatArray) -> bool:
    """Return whether the likelihood grows without end in some direction of the parameters."""
    if scipy.sparse.csgraph.connected_components(wins, directed=True, connection="strong")[0] == 1:
        return False
    design, observed = _design(wins, ties)
    better = [
        design[seen, outcome] - design[seen, other]
        for outcome in range(design.shape[1])
        for other in range(design.shape[1])
        if other != outcome
        for seen in (observed[:, outcome] > 0,)
    ]
    gains = np.vstack(better)
    # Of all directions in which no outcome that was seen becomes less likely, the one that gains most.
    best = scipy.optimize.linprog(
        -gains.sum(axis=0), A_ub=np.vstack([-gains, gains]), b_ub=np.repeat([0.0, 1.0], len(gains)), bounds=(None, None)
    )
    return -float(best.fun or 0.0) > _SMALLEST_SEPARATION


def _design(wins: FloatArray, ties: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return per pair that met and outcome (first wins, second wins, tie): the parameters' factors, and the counts.

    The parameters are the log-strengths and, where there are ties, log nu.
    """
    k = len(wins)
    first, second = np.triu_indices(k, 1)
    observed = np.column_stack([wins[first, second], wins[second, first], ties[first, second]])
    kept = observed.sum(axis=1) > 0
    observed, first, second = observed[kept], first[kept], second[kept]
    has_ties = bool(ties.any())
    design = np.zeros((len(first), 3, k + has_ties))
    rows = np.arange(len(first))
    design[rows, 0, first] = design[rows, 1, second] = 1.0
    design[rows, 2, first] = design[rows, 2, second] = 0.5
    if not has_ties:
        return design[:, :2], observed[:, :2]
    design[:, 2, k] = 1.0
    return design, observed


def _fit(wins: FloatArray, ties: FloatArray) -> _Fit:
    k = len(wins)
    design, observed = _design(wins, ties)
    has_ties = design.shape[2] > k
    games = observed.sum(axis=1)
    parameters = np.zeros(design.shape[2])
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
    centring = np.eye(k, design.shape[2])
    centring[:, :k] -= 1 / k
    return _Fit(
        parameters=parameters,
        strengths=strengths,
        covariance=centring @ covariance,
        variances=np.diag(centring @ covariance @ centring.T),
        tie=float(np.exp(parameters[k])) if has_ties else 0.0,
        log_likelihood=likelihood,
    )


def _influence(games: Games, met: IntArray, fit: _Fit | None) -> RatingInfluence:
    """Return by how much each game moves each strength: nothing without a fit."""
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
    # Whether each outcome was seen, less its probability.
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
    design: FloatArray, observed: FloatArray, games: FloatArray, parameters: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    scores = design @ parameters
    scores -= scores.max(axis=1, keepdims=True)
    proportions = np.exp(scores)
    totals = proportions.sum(axis=1, keepdims=True)
    shares = proportions / totals
    likelihood = float(np.sum(observed * (scores - np.log(totals))))
    gradient = np.einsum("po,pod->d", observed - games[:, None] * shares, design)
    mean = np.einsum("po,pod->pd", shares, design)
    weighted = (games[:, None] * shares)[:, :, None] * design
    information = np.einsum("pod,poe->de", weighted, design) - (games[:, None] * mean).T @ mean
    return likelihood, gradient, information


def _result(
    counts: PairCounts,
    played: IntArray,
    met: IntArray,
    fit: _Fit | None,
    variance: ClusteredVariance,
    confidence_level: float,
    *,
    separated: bool,
    reason: str | None,
) -> DavidsonFit:
    quantiles = variance.quantiles(confidence_level)
    place = {int(code): at for at, code in enumerate(met)}
    strengths = []
    for code, bot in enumerate(counts.bots):
        uncertainty = variance.uncertainty(code)
        why = reason if code in place else "it met no other bot"
        if why is None and separated:
            why = _SEPARATED
        if why is not None:
            uncertainty = replace(uncertainty, standard_error=None, degrees_of_freedom=None, reason=why)
        known = fit is not None and code in place
        estimate = float(fit.strengths[place[code]]) if fit is not None and known else None
        error = uncertainty.standard_error
        reach = None if error is None else float(quantiles[code]) * error
        strengths.append(
            Strength(
                bot=bot,
                estimate=estimate,
                low=None if estimate is None or reach is None else estimate - reach,
                high=None if estimate is None or reach is None else estimate + reach,
                model_standard_error=float(np.sqrt(fit.variances[place[code]])) if fit is not None and known else None,
                uncertainty=uncertainty,
                n=int(played[code]),
                reason=uncertainty.reason,
            )
        )
    return DavidsonFit(
        bots=tuple(strengths),
        tie=fit.tie if fit else None,
        log_likelihood=fit.log_likelihood if fit else None,
        separated=separated,
        n=counts.n,
        confidence_level=confidence_level,
        method=f"Davidson's model, maximum likelihood{_PENALTY if separated else ''}, {variance.clusters.words}",
        reason=reason,
    )
