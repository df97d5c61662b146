"""Shares of labels, win rates, ranks and tests of pairs: what holds in a campaign whose truth is known."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Protocol

import numpy as np

from benchmarks.analytics.coverage.tallies import Tallies
from spotthebot.analytics.stats.annotations import FloatArray
from spotthebot.analytics.stats.fooling_rate import fooling_rates
from spotthebot.analytics.stats.ranking import BotRank, Ranking, rank_bots
from spotthebot.analytics.stats.segments import segment_results
from spotthebot.analytics.stats.significance import PairComparison, PairTest, pair_tests
from spotthebot.analytics.stats.wins import Unit, count_wins, play_games
from tests.factories.clustered_campaigns import Setting, draw_labels

_BOT, _HUMAN = np.array([0.35, 0.45, 0.55]), np.array([0.45, 0.38, 0.30])
_CONVERSATIONS, _ANNOTATORS = 400, 3000
_LARGE_CAMPAIGNS = 6


def tally(setting: Setting, seed: int) -> Tallies:
    """Draw a campaign of different bots and one of equal bots, and count what holds."""
    bot, human = chances_of(setting.k)
    table = draw_labels(setting, bot, human, np.random.default_rng([4, seed]))
    alike = draw_labels(
        setting, np.tile(_BOT, (setting.k, 1)), np.tile(_HUMAN, (setting.k, 1)), np.random.default_rng([5, seed])
    )
    pairs, means = true_win_rates(setting.k, setting.correlation, taste=setting.taste)
    games, equal = play_games(table), play_games(alike)
    ranking, of_equal = rank_bots(games, n_resamples=1), rank_bots(equal, n_resamples=1)
    by_segment = rank_bots(play_games(alike, unit=Unit.SEGMENT), n_resamples=1)
    by_conversation = rank_bots(play_games(alike, unit=Unit.CONVERSATION), n_resamples=1)
    segments = segment_results(table)
    order = np.argsort(-means, kind="stable")
    ranks = {games.bots[code]: at + 1 for at, code in enumerate(order)}
    return {
        "fooling rates": _held(fooling_rates(table), human.mean(axis=1)),
        "shares by length": _held([bot.human_share for each in segments for bot in each.bots], human.T.ravel()),
        "win rates of pairs": _held(ranking.pairs, pairs),
        "mean win rates": _held(_in_order(ranking, games.bots), means),
        "win rates of pairs, equal bots": _held(of_equal.pairs, np.full(len(pairs), 0.5)),
        "win rates per segment, equal bots": _held(by_segment.bots, np.full(setting.k, 0.5)),
        "win rates per conversation, equal bots": _held(by_conversation.bots, np.full(setting.k, 0.5)),
        "all ranks at once": (
            int(all((b.rank_low or 1) <= ranks[b.bot] <= (b.rank_high or setting.k) for b in ranking.bots)),
            1,
        ),
        "ranks, any false claim": (int(any(b.rank_low != 1 or b.rank_high != setting.k for b in of_equal.bots)), 1),
        "pairs, any false difference": (_significant(pair_tests(equal)), 1),
        "sign test, any false difference": (_significant(pair_tests(equal, test=PairTest.SIGN)), 1),
    }


def chances_of(k: int) -> tuple[FloatArray, FloatArray]:
    """Return how likely k bots are labelled "bot" and "human" at each time (k, times): from weak to strong."""
    skill = np.linspace(-0.12, 0.12, k)[:, None]
    return _BOT - skill, _HUMAN + skill


@cache
def true_win_rates(k: int, correlation: float, *, taste: bool) -> tuple[FloatArray, FloatArray]:
    """Return the win rates of all pairs and all means (k,), from campaigns of thousands of annotators."""
    bot, human = chances_of(k)
    large = Setting(k, _CONVERSATIONS, _ANNOTATORS, correlation, taste)
    wins = np.zeros((k, k))
    for seed in range(_LARGE_CAMPAIGNS):
        wins += count_wins(play_games(draw_labels(large, bot, human, np.random.default_rng([6, seed])))).wins
    rates = wins / np.maximum(wins + wins.T, 1)
    np.fill_diagonal(rates, np.nan)
    return rates[np.triu_indices(k, 1)], np.nanmean(rates, axis=1)


class _Bounded(Protocol):
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


def _in_order(ranking: Ranking, bots: Sequence[str]) -> list[BotRank]:
    by_name = {bot.bot: bot for bot in ranking.bots}
    return [by_name[bot] for bot in bots]


def _held(found: Iterable[_Bounded], truth: FloatArray) -> tuple[int, int]:
    """Count the intervals that hold the truth; one that is not there counts not at all."""
    bounds = [(each.low, each.high, value) for each, value in zip(found, truth.tolist(), strict=True)]
    held = [low <= value <= high for low, high, value in bounds if low is not None and high is not None]
    return sum(held), len(held)


def _significant(tests: Iterable[PairComparison]) -> int:
    return int(any(test.p_adjusted is not None and test.p_adjusted < 0.05 for test in tests))
