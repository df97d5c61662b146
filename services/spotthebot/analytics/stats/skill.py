"""TrueSkill ratings of the bots, with what the order of the matches and the choice of conversations make of them."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from spotthebot.analytics.stats.annotations import BoolArray, FloatArray, IntArray
from spotthebot.analytics.stats.bootstrap import (
    Resample,
    defined,
    percentile_interval,
    require_confidence_level,
)
from spotthebot.analytics.stats.errors import SettingOutOfRange
from spotthebot.analytics.stats.randomness import Seed, generator_of, seed_of
from spotthebot.analytics.stats.rank_ranges import clusters_of_ranges, rank_probabilities, rank_ranges
from spotthebot.analytics.stats.share_intervals import replicate_variance
from spotthebot.analytics.stats.trueskill_updates import SkillSettings, draw_margin, play_matches
from spotthebot.analytics.stats.wins import Games, Unit

_UPDATES_AT_ONCE: Final = 20_000_000


@dataclass(frozen=True)
class Skill:
    """One bot's rating over `n` games: mu and sigma are means over shuffled orders of all games.

    `order_spread` is the standard deviation, over the match orders, of mu less the mean mu of all bots: the common
    level wanders with the order too, but tells nothing of who is better. Bounds of mu and ranks are over resampled
    games, None without any.
    """

    bot: str
    mu: float
    sigma: float
    order_spread: float
    n: int
    low: float | None
    high: float | None
    rank_low: int | None
    rank_high: int | None
    cluster: int | None
    rank_probabilities: tuple[float, ...]


@dataclass(frozen=True)
class SkillRatings:
    """Ratings in the order of the bots, with the draw probability that was taken."""

    bots: tuple[Skill, ...]
    draw_probability: float
    settings: SkillSettings
    confidence_level: float
    n: int
    n_shuffles: int
    n_resamples: int
    resample: Resample
    method: str
    seed: int | None


_DEFAULT_SETTINGS = SkillSettings()


def rate_skills(
    games: Games,
    *,
    n_shuffles: int = 10,
    n_resamples: int = 0,
    resample: Resample = Resample.CONVERSATION,
    confidence_level: float = 0.95,
    seed: Seed = 0,
    settings: SkillSettings = _DEFAULT_SETTINGS,
) -> SkillRatings:
    """Play all games in `n_shuffles` random orders, and `n_resamples` resampled sets of games in one order each.

    The draw probability is the share of ties unless `settings` has one; the replicates keep it. If all games are ties a
    tie tells nothing, and every bot keeps the prior. Under `TWO_WAY` the deviations of the conversation replicates are
    stretched until their variance is that of conversations plus annotators less single games (Cameron, Gelbach & Miller
    2011), never shrunk. Annotators can only be resampled where a game is an annotation. Raises `SettingOutOfRange`.

    >>> from spotthebot.analytics.stats import AnnotationTable, play_games
    >>> table = AnnotationTable(
    ...     names=("A", "B"),
    ...     conversation=np.array([0]),
    ...     entity=np.array([[0, 1]]),
    ...     exchanges=np.array([2]),
    ...     label=np.array([[2, 0]]),
    ...     annotator=np.array([0]),
    ... )
    >>> standard = SkillSettings(tau=25 / 300, draw_probability=0.1)
    >>> ratings = rate_skills(play_games(table), settings=standard)
    >>> [(bot.bot, round(bot.mu, 3), round(bot.sigma, 3)) for bot in ratings.bots]
    [('A', 29.396, 7.171), ('B', 20.604, 7.171)]
    """
    if n_shuffles < 1:
        raise SettingOutOfRange(setting="n_shuffles", allowed="1 or more", value=n_shuffles)
    if n_resamples < 0:
        raise SettingOutOfRange(setting="n_resamples", allowed="0 or more", value=n_resamples)
    if resample in {Resample.ANNOTATOR, Resample.TWO_WAY} and games.unit is not Unit.ANNOTATION:
        raise SettingOutOfRange(setting="resample", allowed=f"conversation or game for {games.unit}s", value=resample)
    require_confidence_level(confidence_level)
    generator = generator_of(seed)
    k = len(games.bots)
    ties = float(np.mean(games.outcome == 0)) if len(games) else 0.0
    draw_probability = ties if settings.draw_probability is None else settings.draw_probability
    play = _Player(games, draw_probability, settings)
    mu, sigma = play(_shuffles(len(games), n_shuffles, generator))
    relative = mu - mu.mean(axis=0) if k else mu
    replicates = _replicates(games, play, resample, n_resamples, generator) if n_resamples else np.empty((0, k))
    low, high = percentile_interval(replicates, confidence_level)
    played = np.bincount(games.first, minlength=k) + np.bincount(games.second, minlength=k)
    ranked = np.flatnonzero(played > 0) if n_resamples else np.empty(0, dtype=np.int64)
    rank_low, rank_high = rank_ranges(replicates[:, ranked], confidence_level)
    probabilities = rank_probabilities(replicates[:, ranked])
    clusters = clusters_of_ranges(rank_low, rank_high)
    place = {int(code): at for at, code in enumerate(ranked)}
    return SkillRatings(
        bots=tuple(
            Skill(
                bot=bot,
                mu=float(mu[i].mean()),
                sigma=float(sigma[i].mean()),
                order_spread=float(relative[i].std()),
                n=int(played[i]),
                low=defined(low[i]) if i in place else None,
                high=defined(high[i]) if i in place else None,
                rank_low=int(rank_low[place[i]]) if i in place else None,
                rank_high=int(rank_high[place[i]]) if i in place else None,
                cluster=int(clusters[place[i]]) if i in place else None,
                rank_probabilities=tuple(probabilities[place[i]].tolist()) if i in place else (),
            )
            for i, bot in enumerate(games.bots)
        ),
        draw_probability=draw_probability,
        settings=settings,
        confidence_level=confidence_level,
        n=len(games),
        n_shuffles=n_shuffles,
        n_resamples=n_resamples,
        resample=resample,
        method=f"TrueSkill, tau {settings.tau:g}, mean over shuffled orders; bounds by resampling {resample}s",
        seed=seed_of(seed),
    )


class _Player:
    """Plays sequences of rows of the games, many at once; a row of -1 is no match."""

    def __init__(self, games: Games, draw_probability: float, settings: SkillSettings) -> None:
        self._k = len(games.bots)
        self._settings = settings
        self._tells = len(games) > 0 and draw_probability < 1 and not np.all(games.outcome == 0)
        self._margin = draw_margin(draw_probability, settings.beta) if draw_probability < 1 else 0.0
        # The last row, which -1 finds, is a match of the first bot against itself.
        lost = games.outcome < 0
        self._winner = np.append(np.where(lost, games.second, games.first), 0)
        self._loser = np.append(np.where(lost, games.first, games.second), 0)
        self._drawn = np.append(games.outcome == 0, False)

    def __call__(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return mu and sigma, (k, R), after the matches of rows (m, R)."""
        if not self._tells:
            shape = (self._k, rows.shape[1])
            return np.full(shape, self._settings.mu), np.full(shape, self._settings.sigma)
        drawn: BoolArray = self._drawn[rows]
        return play_matches(
            self._winner[rows],
            self._loser[rows],
            drawn,
            self._k,
            margin=self._margin,
            settings=self._settings,
        )


def _shuffles(m: int, n_shuffles: int, generator: np.random.Generator) -> IntArray:
    return np.column_stack([generator.permutation(m) for _ in range(n_shuffles)])


def _replicates(
    games: Games, play: _Player, resample: Resample, n_resamples: int, generator: np.random.Generator
) -> FloatArray:
    """Return the mu of each replicate, (n_resamples, k)."""

    def by(kind: Resample) -> FloatArray:
        at_once = max(1, _UPDATES_AT_ONCE // max(1, len(games)))
        sizes = [min(at_once, n_resamples - start) for start in range(0, n_resamples, at_once)]
        return np.concatenate([play(_drawn_rows(games, kind, size, generator))[0].T for size in sizes])

    if resample is not Resample.TWO_WAY:
        return by(resample)
    conversations = by(Resample.CONVERSATION)
    single, annotators = (replicate_variance(by(kind)) for kind in (Resample.GAME, Resample.ANNOTATOR))
    one_way = replicate_variance(conversations)
    request = np.maximum(np.maximum(one_way, annotators), one_way + annotators - single)
    centre = conversations.mean(axis=0)
    stretch = np.sqrt(np.divide(request, one_way, out=np.ones_like(one_way), where=one_way > 0))
    stretched: FloatArray = centre + (conversations - centre) * stretch
    return stretched


def _drawn_rows(games: Games, kind: Resample, n_resamples: int, generator: np.random.Generator) -> IntArray:
    """Draw rows of the games for each replicate, in random order: (m, n_resamples), filled up with -1."""
    m = len(games)
    if kind is Resample.GAME or not m:
        return generator.integers(max(m, 1), size=(m, n_resamples))
    cluster = games.annotator if kind is Resample.ANNOTATOR else games.conversation
    order = np.argsort(cluster, kind="stable")
    sizes = np.unique(cluster, return_counts=True)[1]
    starts = np.cumsum(sizes) - sizes
    replicates = []
    for _ in range(n_resamples):
        drawn = generator.integers(len(sizes), size=len(sizes))
        offsets = np.arange(sizes[drawn].sum()) - np.repeat(np.cumsum(sizes[drawn]) - sizes[drawn], sizes[drawn])
        replicates.append(generator.permutation(order[np.repeat(starts[drawn], sizes[drawn]) + offsets]))
    rows = np.full((max(map(len, replicates)), n_resamples), -1)
    for at, replicate in enumerate(replicates):
        rows[: len(replicate), at] = replicate
    return rows
