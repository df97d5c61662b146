import numpy as np
import pytest

from spotthebot.analytics.stats.stability import (
    RankRule,
    StabilityPoint,
    stability_at,
    stability_curve,
    stability_sizes,
    without_bot,
)
from spotthebot.analytics.stats.wins import Unit, play_games
from spotthebot.statistics.errors import SettingOutOfRange
from tests.analytics.stats.annotation_tables import simulated_table, table_of


def _games(seed=1, **more):
    return play_games(simulated_table(seed, **more), unit=Unit.CONVERSATION)


def _point(size, estimate):
    return StabilityPoint(size, estimate, 0, 1, (), 100, 100, 0.95, RankRule.PUBLISHED, "", 0)


class TestStabilityAt:
    @pytest.mark.parametrize("rule", RankRule)
    def test_all_conversations_always_rank_alike_but_for_the_bootstrap(self, rule):
        point = stability_at(_games(per_pair=20), 20, rule=rule, n_subsets=30, n_resamples=300)
        assert point.estimate == 1
        assert point.clusters == (("C",), ("B",), ("A",))

    def test_subsets_are_ranked_by_percentiles_unless_the_published_rule_is_named(self):
        games = _games(per_pair=12)
        one = stability_at(games, 5, n_subsets=20, n_resamples=50)
        named = stability_at(games, 5, rule=RankRule.PERCENTILE, n_subsets=20, n_resamples=50)
        assert one == named
        assert stability_at(games, 5, rule=RankRule.PUBLISHED, n_subsets=20, n_resamples=50).rule is RankRule.PUBLISHED

    def test_the_published_rule_is_that_of_the_released_code(self):
        point = stability_at(_games(), 3, rule=RankRule.PUBLISHED, n_subsets=2, n_resamples=2)
        # The released code always draws 5000 matches and keeps ranges that hold more than 99.5 % of replicates.
        assert point.method == "released code: 5000 games drawn, ranges holding more than 99.5%"

    def test_a_small_lead_in_few_games_parts_two_bots_by_the_published_rule_alone(self):
        # Six games of ten are ahead in nearly all samples of 5,000 games, and in three of four of ten.
        rows = [(at, "A", "B", 2, (2, 0) if at < 6 else (0, 2), at) for at in range(10)]
        games = play_games(table_of(rows, ("A", "B")), unit=Unit.CONVERSATION)
        found = {rule: stability_at(games, 10, rule=rule, n_subsets=5, n_resamples=200).clusters for rule in RankRule}
        assert found == {RankRule.PUBLISHED: (("A",), ("B",)), RankRule.PERCENTILE: (("A", "B"),)}

    def test_fewer_conversations_are_less_stable(self):
        games = _games(2, names=("A", "B", "C", "D"), per_pair=30)
        few, many = (stability_at(games, size, n_subsets=60, n_resamples=200) for size in (3, 28))
        assert few.estimate < many.estimate
        assert few.low < few.estimate < few.high

    def test_same_seed_same_point_and_each_size_has_its_own_draws(self):
        games = _games(per_pair=12)
        one, again = (stability_at(games, 5, n_subsets=70, n_resamples=100, seed=4) for _ in range(2))
        assert one == again
        assert stability_at(games, 5, n_subsets=70, n_resamples=100, seed=5) != one

    @pytest.mark.parametrize("size", [0, 5])
    def test_refuses_a_size_that_a_pair_does_not_have(self, size):
        with pytest.raises(SettingOutOfRange, match="size must be a whole number from 1 to 4, the games of every pair"):
            stability_at(_games(per_pair=4), size)

    @pytest.mark.parametrize("names", [(), ("A",)])
    def test_fewer_than_two_bots_have_no_sizes(self, names):
        games = play_games(table_of([], names))
        assert list(stability_sizes(games)) == []
        with pytest.raises(SettingOutOfRange):
            stability_at(games, 3)

    def test_only_ties_are_one_cluster(self):
        rows = [(i, "A", "B", 2, (1, 1), 0) for i in range(6)]
        games = play_games(table_of(rows, ("A", "B")), unit=Unit.CONVERSATION)
        for rule in RankRule:
            point = stability_at(games, 4, rule=rule, n_subsets=10, n_resamples=50)
            assert point.estimate == 1


class TestStabilityCurve:
    def test_tells_the_first_size_and_the_one_from_which_it_stays(self):
        curve = stability_curve([_point(5, 0.96), _point(3, 0.5), _point(4, 0.97), _point(6, 0.9), _point(7, 0.99)])
        assert [point.size for point in curve.points] == [3, 4, 5, 6, 7]
        assert (curve.first_stable, curve.stable_from) == (4, 7)

    def test_the_paper_s_rate_itself_is_stable(self):
        curve = stability_curve([_point(3, 0.95), _point(4, 0.949), _point(5, 0.95)])
        assert (curve.first_stable, curve.stable_from) == (3, 5)

    def test_stays_stable_from_the_first_of_the_sizes_at_the_end(self):
        curve = stability_curve([_point(size, estimate) for size, estimate in ((3, 0.99), (4, 0.9), (5, 0.99), (6, 1))])
        assert (curve.first_stable, curve.stable_from) == (3, 5)

    def test_may_never_be_stable(self):
        curve = stability_curve([_point(3, 0.97), _point(4, 0.2)])
        assert (curve.first_stable, curve.stable_from) == (3, None)
        assert stability_curve([]).first_stable is None


class TestWithoutBot:
    def test_leaves_its_games_out_and_keeps_the_others(self):
        games = _games()
        rest = without_bot(games, "B")
        kept = (games.first != 1) & (games.second != 1)
        assert rest.bots == ("A", "C")
        np.testing.assert_array_equal(rest.outcome, games.outcome[kept])
        assert [rest.bots[code] for code in rest.first] == [games.bots[code] for code in games.first[kept]]
