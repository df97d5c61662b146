import numpy as np
import pytest
from scipy import stats

from spotthebot.analytics.stats.design_reach import least_conversations_of_any, lowest_p
from spotthebot.analytics.stats.pair_power import Design
from spotthebot.analytics.stats.ranking import rank_bots
from spotthebot.analytics.stats.significance import pair_tests
from spotthebot.analytics.stats.wins import Games, Unit
from tests.factories.known import known


def _games(k: int, conversations: int, each: int, annotators: int) -> Games:
    """The first of any two bots wins every game; annotators take turns."""
    first, second = np.triu_indices(k, 1)
    n = conversations * each
    conversation = np.arange(len(first) * conversations).repeat(each)
    return Games(
        bots=tuple(f"bot {at}" for at in range(k)),
        first=first.repeat(n),
        second=second.repeat(n),
        outcome=np.ones(len(first) * n, dtype=np.int64),
        conversation=conversation,
        annotator=np.tile(np.arange(n) % annotators, len(first)),
        unit=Unit.ANNOTATION,
        criterion="human",
    )


def _with_others(games: Games, rng: np.random.Generator, changed: int) -> Games:
    """Up to `changed` games are lost or tied."""
    outcome = games.outcome.copy()
    outcome[rng.integers(0, len(outcome), rng.integers(0, changed + 1))] = rng.choice([-1, 0])
    return Games(**{**vars(games), "outcome": outcome})


class TestLowestP:
    @pytest.mark.parametrize(("k", "shape"), [(2, (4, 6, 6)), (3, (4, 6, 6)), (3, (4, 6, 2)), (5, (4, 6, 4))])
    def test_holds_for_the_default_tests_of_pairs_and_of_ranks(self, k: int, shape: tuple[int, int, int]):
        """Labels near those of bots that win everything: no pair and no ranks have a p-value below the bound."""
        conversations, each, annotators = shape
        design = Design(annotations_per_conversation=each, annotators=annotators)
        bound = lowest_p(conversations, design, n_pairs=k * (k - 1) // 2)
        rng, won = np.random.default_rng(4), _games(k, *shape)
        for games in [won, *(_with_others(won, rng, 4) for _ in range(25))]:
            assert all(known(test.p_adjusted) >= bound for test in pair_tests(games))
            ranked = rank_bots(games, significance_level=max(bound, 1e-6), n_resamples=1)
            assert {(bot.rank_low, bot.rank_high) for bot in ranked.bots} == {(1, k)}

    def test_ranks_come_near_the_bound(self):
        """Two games of 72 lost by the best bot."""
        games = _games(3, 4, 6, 6)
        games.outcome[[0, 10]] = -1
        bound = lowest_p(4, Design(annotators=6), n_pairs=3)
        ranked = rank_bots(games, significance_level=1.3 * bound, n_resamples=1)
        assert any(bot.rank_low != 1 or bot.rank_high != 3 for bot in ranked.bots)

    def test_pairs_reach_their_bound_if_one_bot_wins_everything(self):
        """24 games without a design effect; 3 pairs of 3 degrees, and 2 bots' worth of 5 annotators."""
        expected = 3 * 2 * stats.t.sf(24**0.5, min(3 * 3, 2 * 5))
        assert known(pair_tests(_games(3, 4, 6, 6))[0].p_adjusted) == pytest.approx(expected)
        assert lowest_p(4, Design(annotators=6), n_pairs=3) < expected

    @pytest.mark.parametrize(("annotators", "n_pairs"), [(2, 3), (3, 10), (None, 1)])
    def test_is_below_the_level_from_the_fewest_conversations_on(self, annotators: int | None, n_pairs: int):
        design = Design(annotations_per_conversation=1, annotators=annotators)
        least = known(least_conversations_of_any(design, n_pairs=n_pairs))
        assert lowest_p(least, design, n_pairs=n_pairs) < 0.05 <= lowest_p(least - 1, design, n_pairs=n_pairs)
