"""Bots that did not all meet: a connected graph is ranked by strengths, and a stray vote costs its own bot alone."""

from collections.abc import Sequence

import numpy as np
import pytest

from spotthebot.analytics.stats.davidson import rate_davidson
from spotthebot.analytics.stats.ranking import Ranking, rank_bots
from spotthebot.analytics.stats.wins import Games, Unit

Vote = tuple[str, str, int]


def _games(votes: Sequence[Vote], annotators: int = 12) -> Games:
    """Each vote is about an item of its own; annotators take turns."""
    bots = tuple(sorted({bot for first, second, _ in votes for bot in (first, second)}))
    at = np.arange(len(votes))
    return Games(
        bots=bots,
        first=np.array([bots.index(first) for first, _, _ in votes]),
        second=np.array([bots.index(second) for _, second, _ in votes]),
        outcome=np.array([outcome for _, _, outcome in votes]),
        conversation=at,
        annotator=at % annotators,
        unit=Unit.ANNOTATION,
        criterion="vote",
    )


def _votes(*pairs: tuple[str, str, int, int]) -> list[Vote]:
    """Return so many wins and losses of each pair."""
    return [(first, second, 1 if at < won else -1) for first, second, won, lost in pairs for at in range(won + lost)]


def _ranks(ranking: Ranking) -> dict[str, tuple[int | None, int | None]]:
    return {bot.bot: (bot.rank_low, bot.rank_high) for bot in ranking.bots}


ALL = _votes(("A", "B", 50, 10), ("B", "C", 48, 12), ("A", "C", 55, 5))
CHAIN = _votes(("A", "B", 50, 10), ("B", "C", 48, 12))
PLACES = {"A": (1, 1), "B": (2, 2), "C": (3, 3)}


class TestConnectedBots:
    def test_are_ranked_by_strengths_where_not_all_met(self):
        ranking = rank_bots(_games(CHAIN))
        assert (_ranks(ranking), ranking.reason, ranking.ranked_by) == (PLACES, None, "strengths")
        assert "Bradley-Terry strengths" in ranking.rank_method

    def test_are_ranked_by_win_rates_where_all_met(self):
        ranking = rank_bots(_games(ALL))
        assert (_ranks(ranking), ranking.ranked_by) == (PLACES, "win_rates")

    def test_have_strengths_with_intervals(self):
        """Without ties the chain's strengths are sums of the pairs' log odds: log 5 and log 4."""
        fit = rate_davidson(_games(CHAIN))
        found = [bot.estimate for bot in fit.bots]
        assert np.diff([each for each in found if each is not None]) == pytest.approx([-np.log(5), -np.log(4)])
        assert all(bot.low is not None and bot.high is not None for bot in fit.bots)

    def test_are_ranked_in_the_largest_group_and_named_in_others(self):
        votes = [*CHAIN, *_votes(("X", "Y", 5, 5))]
        ranking = rank_bots(_games(votes))
        assert _ranks(ranking) == PLACES | {"X": (None, None), "Y": (None, None)}
        reasons = {bot.bot: bot.reason for bot in ranking.bots}
        assert reasons["X"] == "no chain of games leads from X, Y to the bots that are ranked"
        assert reasons["A"] is None

    def test_stand_by_the_spread_of_the_others_where_one_won_every_game(self):
        """W beat B in 30 games; its strength has no bound above, and A, who beat B in 50 of 60, may be as good."""
        ranking = rank_bots(_games([*ALL, *_votes(("W", "B", 30, 0))]))
        assert _ranks(ranking) == {"W": (1, 2), "A": (1, 2), "B": (3, 3), "C": (4, 4)}

    def test_have_no_ranks_where_each_only_won_or_lost_against_another(self):
        ranking = rank_bots(_games(_votes(("A", "B", 20, 0), ("B", "C", 20, 0))))
        assert ranking.reason == (
            "A and C never met, and no two bots won against each other, over others too: nothing says how sure a"
            " strength is"
        )


class TestStrayVote:
    @pytest.mark.parametrize("votes", [ALL, CHAIN], ids=["all met", "chain"])
    @pytest.mark.parametrize("outcome", [1, 0, -1])
    def test_costs_its_own_bot_alone(self, votes: list[Vote], outcome: int):
        before, after = (rank_bots(_games([*votes, *stray])) for stray in ((), (("Z", "A", outcome),)))
        assert _ranks(after) == _ranks(before) | {"Z": (None, None)}
        assert after.bots[-1].reason is not None

    @pytest.mark.parametrize("outcome", [1, 0, -1])
    def test_leaves_the_win_rates_of_others_as_they_are(self, outcome: int):
        """Ranks by mean win rates among those who all met stand beside these very rates and their intervals."""
        before, after = (rank_bots(_games([*ALL, *stray])) for stray in ((), (("Z", "A", outcome),)))
        for one, other in zip(before.bots, after.bots[:3], strict=True):
            assert other.bot == one.bot
            assert (other.estimate, other.low, other.high) == pytest.approx((one.estimate, one.low, one.high))
        assert after.bots[3].estimate == {1: 1.0, 0: None, -1: 0.0}[outcome]

    @pytest.mark.parametrize("outcome", [1, -1])
    def test_leaves_the_strengths_of_others_as_they_are(self, outcome: int):
        before, after = (rate_davidson(_games([*ALL, *stray])) for stray in ((), (("Z", "A", outcome),)))
        assert [bot.estimate for bot in after.bots[:3]] == pytest.approx([bot.estimate for bot in before.bots])
        assert [bot.low is None for bot in after.bots] == [False, False, False, True]

    def test_between_two_who_met_nobody_else_leaves_out_both(self):
        ranking = rank_bots(_games([*ALL, ("Y", "Z", 1)]))
        assert _ranks(ranking) == PLACES | {"Y": (None, None), "Z": (None, None)}
