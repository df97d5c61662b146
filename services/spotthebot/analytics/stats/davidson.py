"""Bradley-Terry strengths with ties: Davidson's model, fitted to the games of all pairs at once.

The model is Davidson's (1970). For bots with strengths pi_i and pi_j, wins of i, wins of j and ties occur in the
proportions pi_i, pi_j and nu * sqrt(pi_i * pi_j). This is a multinomial logit in the log-strengths, so the likelihood
has only one maximum. A game's influence is its score times the inverse of the information. The variance is the sandwich
of White (1982), for games that vary together.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from spotthebot.analytics.stats.annotations import FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import require_confidence_level
from spotthebot.analytics.stats.davidson_model import DavidsonModel, fit_davidson, influence_of_games, is_separated
from spotthebot.analytics.stats.rating_variance import rating_parts
from spotthebot.analytics.stats.strength_ranks import bots_of_one_cluster, largest_group
from spotthebot.analytics.stats.wins import Games, PairCounts, count_wins, games_between
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.uncertainty import ClusteredVariance, Clusters, Uncertainty

_ALONE: Final = "it met no other bot"
_APART: Final = "no chain of games leads from it to the bots that are rated"
_UNBOUNDED: Final = "its games are of one conversation or one annotator, and nothing bounds its strength"
_PENALTY: Final = " with half a win added to each side"
_SEPARATED: Final = (
    "the games put no bound on some difference of strengths, as where a bot never lost: half a win that was added to"
    " each side of every pair bounds the strengths, and nothing tells how far they may be off"
)


@dataclass(frozen=True)
class Strength:
    """One bot's log-strength with Student's bounds. The strengths of all bots sum to 0. `n` counts its games with ties.

    `uncertainty` has the standard error for games that vary together. `model_standard_error` assumes independent games
    and a true model. If there is no strength or no interval, `reason` says why.
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
    """Strengths in the order of the bots. `tie` is nu, which is 0 without ties and None if all games are ties.

    `separated` means that the likelihood has no maximum, for example if some bots never lost or tied against the
    others. In this case half a win was added to each side of every pair that met. The strengths are finite only because
    of this, so they have no intervals. If there is no fit, `reason` says why.
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

    The maximum exists if chains of wins lead from every bot to every other bot (Ford 1957). With ties, it exists in
    general if and only if no change of the strengths makes every observed outcome at least as likely as the others of
    its pair, and one more likely (Albert & Anderson 1984, quasi-complete separation). If groups of bots never met each
    other, only the largest group is rated. A bot with a single vote is left out if only this bot prevents the maximum.
    A bot that is left out has a reason.

    >>> from spotthebot.analytics.stats import AnnotationTable, play_games
    >>> rows = [(at, "A", "B", 2, *(("human", "bot") if at % 3 else ("bot", "human")), at % 5) for at in range(9)]
    >>> fit = rate_davidson(play_games(AnnotationTable.from_rows(rows)))
    >>> round(fit.bots[0].estimate - fit.bots[1].estimate, 6)  # without ties: the log odds, log(6 / 3)
    0.693147
    """
    clusters = choice_of("clusters", clusters, Clusters)
    require_confidence_level(confidence_level)
    counts = count_wins(games)
    played = (counts.wins + counts.wins.T + counts.ties).sum(axis=1)
    met = np.flatnonzero(played > 0)
    if len(met):
        met = met[largest_group((counts.wins + counts.wins.T + counts.ties)[np.ix_(met, met)])]
    why_not = {code: _APART for code in np.flatnonzero(played > 0).tolist() if code not in set(met.tolist())}
    wins, ties = _wins_and_ties(counts, met)
    reason = _why_no_fit(wins)
    separated = reason is None and is_separated(wins, ties)
    if separated:
        alone = bots_of_one_cluster(games, clusters)[met]
        others = met[~alone]
        of_others = _wins_and_ties(counts, others)
        if alone.any() and of_others[0].any() and _is_one_group(*of_others) and not is_separated(*of_others):
            why_not |= dict.fromkeys(met[alone].tolist(), _UNBOUNDED)
            met, (wins, ties), separated = others, of_others, False
    if separated:
        wins += 0.5 * ((wins + wins.T + ties + ties.T) > 0)
    fit = fit_davidson(wins, ties) if reason is None else None
    among = games if len(met) == len(games.bots) else games_between(games, met)
    place = np.arange(len(met))
    variance = rating_parts(among, influence_of_games(among, place, fit), clusters).variances()
    why_not |= dict.fromkeys(np.flatnonzero(played == 0).tolist(), _ALONE)
    return _result(
        counts, played, met, fit, variance, confidence_level, separated=separated, why_not=why_not, reason=reason
    )


def _wins_and_ties(counts: PairCounts, codes: IntArray) -> tuple[FloatArray, FloatArray]:
    among = np.ix_(codes, codes)
    return counts.wins[among].astype(np.float64), np.triu(counts.ties[among], 1).astype(np.float64)


def _is_one_group(wins: FloatArray, ties: FloatArray) -> bool:
    return bool(largest_group(wins + ties).all())


def _why_no_fit(wins: FloatArray) -> str | None:
    if not len(wins):
        return "no two bots met"
    if not wins.any():
        return "every game is a tie"
    return None


def _result(  # noqa: PLR0913 - all that a result is made of
    counts: PairCounts,
    played: IntArray,
    met: IntArray,
    fit: DavidsonModel | None,
    variance: ClusteredVariance,
    confidence_level: float,
    *,
    separated: bool,
    why_not: Mapping[int, str],
    reason: str | None,
) -> DavidsonFit:
    quantiles = variance.quantiles(confidence_level)
    errors = np.empty(0) if fit is None else np.sqrt(np.diag(fit.model_covariance))
    place = {int(code): at for at, code in enumerate(met)}
    strengths = []
    for code, bot in enumerate(counts.bots):
        known = fit is not None and code in place
        why = why_not.get(code) or reason or (_SEPARATED if separated else None)
        if code in place:
            uncertainty = variance.uncertainty(place[code])
        else:
            uncertainty = Uncertainty(None, None, 0, 0, variance.clusters, why)
        if why is not None:
            uncertainty = replace(uncertainty, standard_error=None, degrees_of_freedom=None, reason=why)
        estimate = float(fit.strengths[place[code]]) if fit is not None and known else None
        error = uncertainty.standard_error
        reach = None if error is None else float(quantiles[place[code]]) * error
        strengths.append(
            Strength(
                bot=bot,
                estimate=estimate,
                low=None if estimate is None or reach is None else estimate - reach,
                high=None if estimate is None or reach is None else estimate + reach,
                model_standard_error=float(errors[place[code]]) if known else None,
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
