"""TrueSkill ratings of the bots. Their uncertainty covers the order of matches and the choice of games."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
import scipy

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import require_confidence_level, require_level, require_resamples
from spotthebot.analytics.stats.rank_ranges import clusters_of_ranges
from spotthebot.analytics.stats.rating_variance import RatingInfluence, rating_parts
from spotthebot.analytics.stats.trueskill_ratings import priors_of
from spotthebot.analytics.stats.trueskill_updates import Priors, SkillSettings, draw_margin, play_matches, truncation
from spotthebot.analytics.stats.wins import Games
from spotthebot.statistics.adjustment import Adjustment, adjust
from spotthebot.statistics.choices import choice_of
from spotthebot.statistics.clustered_variance import ClusteredParts
from spotthebot.statistics.distributions import student_tails
from spotthebot.statistics.randomness import Seed, generator_of, seed_of
from spotthebot.statistics.uncertainty import Clusters, Uncertainty

if TYPE_CHECKING:
    from trueskill import Rating

_STEP: Final = 1e-4


@dataclass(frozen=True)
class Skill:
    """The rating of one bot, which played `n` games. mu and sigma are means over shuffled orders of all games.

    `order_spread` is the standard deviation, over the match orders, of mu minus the mean mu of all bots. The bounds of
    mu are Student's; if there are none, `reason` says why. The sets of ranks hold for all bots together.
    """

    bot: str
    mu: float
    sigma: float
    order_spread: float
    n: int
    low: float | None
    high: float | None
    uncertainty: Uncertainty
    rank_low: int | None
    rank_high: int | None
    cluster: int | None
    reason: str | None


@dataclass(frozen=True)
class SkillRatings:
    """Ratings in the order of the bots, with the draw probability that was used."""

    bots: tuple[Skill, ...]
    draw_probability: float
    settings: SkillSettings
    confidence_level: float
    significance_level: float
    clusters: Clusters
    n: int
    n_shuffles: int
    method: str
    seed: int | None


_DEFAULT_SETTINGS = SkillSettings()


def rate_skills(  # noqa: PLR0913 - each is a choice of its own
    games: Games,
    *,
    n_shuffles: int = 100,
    clusters: Clusters = Clusters.BOTH,
    confidence_level: float = 0.95,
    significance_level: float = 0.05,
    adjustment: Adjustment = Adjustment.HOLM,
    seed: Seed = 0,
    settings: SkillSettings = _DEFAULT_SETTINGS,
    priors: "Mapping[str, Rating] | None" = None,
) -> SkillRatings:
    """Play all games in `n_shuffles` random orders. Return ratings, with bounds for games that vary together.

    The draw probability is the share of ties unless `settings` has one. `priors` may have ratings of the package
    `trueskill` for some bots; other bots start with the prior of the settings. If all games are ties, they tell
    nothing, and every bot keeps its prior. Games tell only about differences of skills. So among bots that met,
    directly or through others, the mean mu, weighted by the precision of the priors, is kept unchanged. It is unchanged
    in the exact posterior too, but TrueSkill's approximation changes it with the order of games. A game's influence on
    mu is its score times the inverse of the posterior's precision; its small effect on the draw probability is added.
    This equals its influence in a bootstrap of games. Ranks come from t tests of all differences, which are one family.
    Raises `SettingOutOfRange`.

    >>> from spotthebot.analytics.stats import AnnotationTable, play_games
    >>> standard = SkillSettings(tau=25 / 300, draw_probability=0.1)
    >>> games = play_games(AnnotationTable.from_rows([(0, "A", "B", 2, "human", "bot", 0)]))
    >>> [(bot.bot, round(bot.mu, 3), round(bot.sigma, 3)) for bot in rate_skills(games, settings=standard).bots]
    [('A', 29.396, 7.171), ('B', 20.604, 7.171)]
    """
    clusters = choice_of("clusters", clusters, Clusters)
    adjustment = choice_of("adjustment", adjustment, Adjustment)
    require_resamples(n_shuffles, "n_shuffles")
    require_confidence_level(confidence_level)
    require_level("significance_level", significance_level)
    generator = generator_of(seed)
    k = len(games.bots)
    ties = float(np.mean(games.outcome == 0)) if len(games) else 0.0
    draw_probability = ties if settings.draw_probability is None else settings.draw_probability
    before = priors_of(games.bots, priors or {}, settings)
    play = _Player(games, draw_probability, settings, before)
    by_order, sigma = play(np.column_stack([generator.permutation(len(games)) for _ in range(n_shuffles)]))
    relative = by_order - by_order.mean(axis=0) if k else by_order
    group = _groups(games, k)
    mu = _centred(by_order.mean(axis=1), group, before)
    parts = rating_parts(games, play.influence(mu), clusters)
    reason = play.why_no_interval()
    variance = parts.variances()
    reach = variance.quantiles(confidence_level) * np.sqrt(variance.variance)
    played = np.bincount(games.first, minlength=k) + np.bincount(games.second, minlength=k)
    comparable = reason is None and len(np.unique(group[played > 0])) == 1
    ranked = np.flatnonzero(played > 0) if comparable else np.empty(0, dtype=np.int64)
    rank_low, rank_high = _rank_sets(mu, parts, ranked, significance_level, adjustment)
    cluster = clusters_of_ranges(rank_low, rank_high)
    place = {int(code): at for at, code in enumerate(ranked)}
    bots = []
    for i, bot in enumerate(games.bots):
        uncertainty = variance.uncertainty(i)
        if reason is not None and played[i]:
            uncertainty = replace(uncertainty, standard_error=None, degrees_of_freedom=None, reason=reason)
        known = uncertainty.standard_error is not None
        bots.append(
            Skill(
                bot=bot,
                mu=float(mu[i]),
                sigma=float(sigma[i].mean()),
                order_spread=float(relative[i].std()),
                n=int(played[i]),
                low=float(mu[i] - reach[i]) if known else None,
                high=float(mu[i] + reach[i]) if known else None,
                uncertainty=uncertainty,
                rank_low=int(rank_low[place[i]]) if i in place else None,
                rank_high=int(rank_high[place[i]]) if i in place else None,
                cluster=int(cluster[place[i]]) if i in place else None,
                reason=uncertainty.reason,
            )
        )
    return SkillRatings(
        bots=tuple(bots),
        draw_probability=draw_probability,
        settings=settings,
        confidence_level=confidence_level,
        significance_level=significance_level,
        clusters=clusters,
        n=len(games),
        n_shuffles=n_shuffles,
        method=f"TrueSkill, tau {settings.tau:g}, mean over {n_shuffles} shuffled orders, mean of all at the prior's;"
        f" bounds of mu by each game's influence, {clusters.words}",
        seed=seed_of(seed),
    )


def _groups(games: Games, k: int) -> IntArray:
    """Return the code of each bot's group. Bots of one group met, directly or through other bots."""
    met = np.zeros((k, k))
    met[games.first, games.second] = 1.0
    return scipy.sparse.csgraph.connected_components(met, directed=False)[1].astype(np.int64)


def _centred(mu: FloatArray, group: IntArray, priors: Priors) -> FloatArray:
    precision = 1 / priors.sigma**2
    drift = np.bincount(group, weights=precision * (mu - priors.mu)) / np.bincount(group, weights=precision)
    centred: FloatArray = mu - drift[group]
    return centred


def _rank_sets(
    mu: FloatArray, parts: ClusteredParts, ranked: IntArray, significance_level: float, adjustment: Adjustment
) -> tuple[IntArray, IntArray]:
    """Return the best and the worst possible rank of each ranked bot.

    They follow from the numbers of bots that are significantly better, and of bots that are significantly worse.
    """
    better = np.zeros((len(ranked), len(ranked)), dtype=np.bool_)
    first, second = np.triu_indices(len(ranked), 1)
    variance = parts.differences(ranked[first], ranked[second])
    lead = mu[ranked[first]] - mu[ranked[second]]
    errors = np.sqrt(variance.variance)
    t = np.divide(lead, errors, out=np.full(len(lead), np.nan), where=errors > 0)
    p_values = 2 * student_tails(np.abs(t), variance.degrees)
    significant = adjust(p_values, adjustment) < significance_level
    better[first[significant & (lead > 0)], second[significant & (lead > 0)]] = True
    better[second[significant & (lead < 0)], first[significant & (lead < 0)]] = True
    return 1 + better.sum(axis=0), len(ranked) - better.sum(axis=1)


class _Player:
    """Plays many sequences of matches at once. A match is a row of the games; row -1 stands for no match."""

    def __init__(self, games: Games, draw_probability: float, settings: SkillSettings, priors: Priors) -> None:
        self._k, self._n = len(games.bots), len(games)
        self._settings, self._priors = settings, priors
        self._draw_probability = draw_probability
        self._tells = len(games) > 0 and draw_probability < 1 and not np.all(games.outcome == 0)
        self._margin = draw_margin(draw_probability, settings.beta)
        # The last row, which -1 finds, is a match of the first bot against itself.
        lost = games.outcome < 0
        self._winner = np.append(np.where(lost, games.second, games.first), 0)
        self._loser = np.append(np.where(lost, games.first, games.second), 0)
        self._drawn = np.append(games.outcome == 0, False)

    def __call__(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return mu and sigma, (k, R) each, after R sequences of m matches, given as rows (m, R)."""
        if not self._tells:
            mu, sigma = (
                np.repeat(each[:, None], rows.shape[1], axis=1) for each in (self._priors.mu, self._priors.sigma)
            )
            return mu, sigma
        drawn: BoolArray = self._drawn[rows]
        return play_matches(
            self._winner[rows],
            self._loser[rows],
            drawn,
            self._priors,
            margin=self._margin,
            settings=self._settings,
        )

    def influence(self, mu: FloatArray) -> RatingInfluence:
        """Return the influence of each game on each mu, at the given values of mu."""
        if not self._tells:
            return RatingInfluence(scipy.sparse.csr_array((self._n, 1)), np.zeros((1, self._k)))
        v, w = self._slopes(mu, self._margin)
        winner, loser = self._winner[:-1], self._loser[:-1]
        precision = np.diag(1 / self._priors.sigma**2)
        for one, other, sign in ((winner, winner, 1), (loser, loser, 1), (winner, loser, -1), (loser, winner, -1)):
            np.add.at(precision, (one, other), sign * w)
        covariance = np.linalg.inv(precision)
        p, slope, of_ties = self._draw_probability, np.zeros(self._k), np.zeros(self._n)
        if self._settings.draw_probability is None and _STEP < p < 1 - _STEP:
            # The margin is estimated from the ties, and the skills stretch with it.
            higher, lower = (self._scores(mu, draw_margin(p + step, self._settings.beta)) for step in (_STEP, -_STEP))
            slope = covariance @ (higher - lower) / (2 * _STEP)
            of_ties = (self._drawn[:-1] - p) / self._n
        value, parameter = np.concatenate([v, -v, of_ties]), np.concatenate([winner, loser, np.full(self._n, self._k)])
        scores = scipy.sparse.csr_array(
            (value, (np.tile(np.arange(self._n), 3), parameter)), shape=(self._n, self._k + 1)
        )
        return RatingInfluence(scores, np.vstack([covariance, slope]))

    def why_no_interval(self) -> str | None:
        """Return why the ratings have no interval: only the prior bounds them. Return None if they have one."""
        if not self._tells:
            return "every game is a tie" if self._n else "no game was played"
        led = np.zeros((self._k, self._k))
        led[self._winner[:-1], self._loser[:-1]] = 1.0
        led[self._loser[:-1][self._drawn[:-1]], self._winner[:-1][self._drawn[:-1]]] = 1.0
        components = scipy.sparse.csgraph.connected_components
        if components(led, connection="strong")[0] > components(led, directed=False)[0]:
            return "some bots never lost to the others nor tied with them: the prior alone bounds their ratings"
        return None

    def _slopes(self, mu: FloatArray, margin: float) -> tuple[FloatArray, FloatArray]:
        """Return the score and the information of each game, with respect to the difference of the two skills."""
        spread = math.sqrt(2) * self._settings.beta
        lead = (mu[self._winner[:-1]] - mu[self._loser[:-1]]) / spread
        v, w = truncation(lead, np.full(self._n, margin / spread), self._drawn[:-1])
        return v / spread, w / spread**2

    def _scores(self, mu: FloatArray, margin: float) -> FloatArray:
        v, _ = self._slopes(mu, margin)
        won = np.bincount(self._winner[:-1], weights=v, minlength=self._k)
        lost = np.bincount(self._loser[:-1], weights=v, minlength=self._k)
        return np.asarray(won - lost, dtype=np.float64)
