import numpy as np
import pytest
import trueskill
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_ndtr

from spotthebot.analytics.stats.skill import _Player, rate_skills
from spotthebot.analytics.stats.trueskill_updates import SkillSettings, play_matches, truncation
from spotthebot.analytics.stats.wins import Unit, play_games
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.uncertainty import Clusters
from tests.analytics.stats.annotation_tables import renamed, shuffled, simulated_table, table_of
from tests.factories.known import known
from tests.factories.published_dump import reference

STANDARD = SkillSettings()


def _margin(draw_probability, beta=STANDARD.beta):
    environment = trueskill.TrueSkill(beta=beta, draw_probability=draw_probability, backend="scipy")
    return trueskill.calc_draw_margin(draw_probability, 2, environment)


def _play(matches, k, margin, settings_):
    first, second, outcome = (np.array(column)[:, None] for column in zip(*matches, strict=True))
    winner, loser = np.where(outcome < 0, second, first), np.where(outcome < 0, first, second)
    mu, sigma = play_matches(winner, loser, outcome == 0, settings_.priors(k), margin=margin, settings=settings_)
    return mu[:, 0], sigma[:, 0]


def _oracle(matches, k, draw_probability, settings_):
    environment = trueskill.TrueSkill(
        mu=settings_.mu,
        sigma=settings_.sigma,
        beta=settings_.beta,
        tau=settings_.tau,
        draw_probability=draw_probability,
        backend="scipy",
    )
    ratings = [environment.create_rating() for _ in range(k)]
    for first, second, outcome in matches:
        ranks = {1: [0, 1], 0: [0, 0], -1: [1, 0]}[outcome]
        (new_first,), (new_second,) = environment.rate([(ratings[first],), (ratings[second],)], ranks=ranks)
        ratings[first], ratings[second] = new_first, new_second
    return [rating.mu for rating in ratings], [rating.sigma for rating in ratings]


class TestPlayMatches:
    @settings(max_examples=15)
    @given(
        matches=st.lists(
            st.tuples(st.sampled_from([(0, 1), (1, 2), (2, 0)]), st.sampled_from([1, 0, -1])), min_size=1, max_size=12
        ),
        draw_probability=st.sampled_from([0.1, 0.5, 0.76]),
        settings_=st.sampled_from(
            [STANDARD, SkillSettings(mu=0, sigma=1, beta=0.5), SkillSettings(sigma=3, beta=9, tau=0.5)]
        ),
    )
    def test_matches_the_trueskill_package_to_nine_digits(self, matches, draw_probability, settings_):
        played = [(*pair, outcome) for pair, outcome in matches]
        mu, sigma = _play(played, 3, _margin(draw_probability, settings_.beta), settings_)
        expected_mu, expected_sigma = _oracle(played, 3, draw_probability, settings_)
        np.testing.assert_allclose(mu, expected_mu, atol=1e-9)
        np.testing.assert_allclose(sigma, expected_sigma, atol=1e-9)

    @pytest.mark.parametrize(("outcome", "key"), [(1, "win"), (0, "draw")])
    def test_first_match_is_the_worked_example(self, outcome, key):
        # The worked example has tau = 25 / 300, which is to start from a sigma that is larger by it.
        worked = np.array(reference("statistics/worked_examples.json")["trueskill"][key])
        drifted = SkillSettings(sigma=float(np.hypot(25 / 3, 25 / 300)))
        mu, sigma = _play([(0, 1, outcome)], 2, _margin(0.10), drifted)
        np.testing.assert_allclose(mu, worked[:, 0], atol=1e-9)
        np.testing.assert_allclose(sigma, worked[:, 1], atol=1e-9)

    @pytest.mark.parametrize("tau", [0, 0.5])
    @pytest.mark.parametrize("outcome", [1, 0])
    def test_a_match_of_a_player_against_itself_changes_nothing(self, outcome, tau):
        alone, filled = (
            _play(matches, 3, _margin(0.10), SkillSettings(tau=tau))
            for matches in ([(0, 1, 1), (1, 2, 0)], [(0, 1, 1), (1, 1, outcome), (1, 2, 0), (2, 2, outcome)])
        )
        np.testing.assert_array_equal(filled, alone)

    @pytest.mark.parametrize("outcome", [1, 0, -1])
    def test_the_least_likely_outcome_is_survived(self, outcome):
        # A skill gap of hundreds of betas, which leaves no mass in double precision.
        sure = SkillSettings(sigma=1000, beta=0.01)
        mu, sigma = _play([(0, 1, 1)] * 50 + [(1, 0, 1)] + [(0, 1, outcome)] * 5, 2, 0.001, sure)
        assert np.isfinite(mu).all()
        assert np.all((sigma > 0) & (sigma < 1000))

    @pytest.mark.parametrize(
        ("t", "drawn", "end", "sign"), [(-45.0, False, -45.5, 1), (45.0, True, -44.5, -1), (-45.0, True, -44.5, 1)]
    )
    def test_the_far_tail_moves_a_mean_to_its_end_and_takes_the_variance(self, t, drawn, end, sign):
        # The normal density's share of the mass beyond `end`, by logarithms: v = phi(end) / Phi(end), w = v (v + end).
        # The other end of a draw lies a whole spread further out, where there is e^-45 of that.
        exact = np.exp(-(end**2) / 2 - np.log(2 * np.pi) / 2 - log_ndtr(end))
        v, w = truncation(np.array([t, 0.0]), np.array([0.5, 0.5]), np.array([drawn, False]))
        assert v[0] == pytest.approx(sign * exact, rel=1e-3)
        assert w[0] == pytest.approx(exact * (exact + end), abs=1e-3)
        # Beside it, a game between equals: phi(.5) / Phi(-.5) = .352065 / .308538.
        assert v[1] == pytest.approx(1.141078, abs=1e-6)


class TestRateSkills:
    def test_averages_seeded_orders_and_estimates_the_draw_probability(self):
        games = play_games(simulated_table(3))
        ratings = rate_skills(games, n_shuffles=4, seed=5)
        assert ratings.draw_probability == np.mean(games.outcome == 0)
        assert (ratings.n, ratings.n_shuffles, ratings.seed) == (72, 4, 5)
        mus = []
        rng = np.random.default_rng(5)
        for _ in range(4):
            order = rng.permutation(72)
            matches = list(zip(games.first[order], games.second[order], games.outcome[order], strict=True))
            mus.append(_oracle(matches, 3, ratings.draw_probability, STANDARD)[0])
        # The package's ratings but for a constant, which games say nothing of: the mean is the prior's.
        expected = np.mean(mus, axis=0) - np.mean(mus) + 25
        np.testing.assert_allclose([bot.mu for bot in ratings.bots], expected, atol=1e-8)
        np.testing.assert_allclose(
            [bot.order_spread for bot in ratings.bots],
            np.std(mus - np.mean(mus, axis=1, keepdims=True), axis=0),
            atol=1e-8,
        )

    def test_better_bots_get_higher_ratings(self):
        ratings = rate_skills(play_games(simulated_table(3, per_pair=30)))
        mus = [bot.mu for bot in ratings.bots]
        assert mus == sorted(mus)
        assert [bot.n for bot in ratings.bots] == [360, 360, 360]

    @pytest.mark.parametrize(
        "rows", [[], [(i, "A", "B", 2, (1, 1), 0) for i in range(3)]], ids=["no games", "only ties"]
    )
    @pytest.mark.parametrize("draw_probability", [None, 0.5])
    def test_every_bot_keeps_the_prior_when_the_games_tell_nothing(self, rows, draw_probability):
        chance = SkillSettings(draw_probability=draw_probability)
        for bot in rate_skills(play_games(table_of(rows, ("A", "B"))), settings=chance).bots:
            assert (bot.mu, bot.sigma, bot.order_spread) == pytest.approx((25.0, 25.0 / 3, 0.0), abs=1e-12)
            assert (bot.low, bot.high, bot.rank_low) == (None, None, None)

    def test_a_bot_with_a_single_game_is_ranked_and_one_without_is_not(self):
        rows = [(i, *"AB", 2, (2 * (i % 3 > 0), 1), i % 4) for i in range(12)] + [(12, *"AC", 2, (1, 1), 1)]
        bots = {bot.bot: bot for bot in rate_skills(play_games(table_of(rows, tuple("ABCD")))).bots}
        assert [bots[name].n for name in "ABCD"] == [13, 12, 1, 0]
        assert [bots[name].rank_low is not None for name in "ABCD"] == [True, True, True, False]
        assert [bots[name].cluster is not None for name in "ABCD"] == [True, True, True, False]

    def test_bot_without_games_keeps_the_prior(self):
        rows = [(i, "A", "B", 2, (2, 0), 0) for i in range(3)]
        last = rate_skills(play_games(table_of(rows, ("A", "B", "C")))).bots[2]
        assert (last.bot, last.n) == ("C", 0)
        assert (last.mu, last.sigma) == pytest.approx((25.0, 25.0 / 3), abs=1e-12)

    def test_refuses_settings_out_of_range(self):
        with pytest.raises(SettingOutOfRange, match="n_shuffles must be a whole number from 1 to 1,000,000, not 0"):
            rate_skills(play_games(simulated_table(1)), n_shuffles=0)
        with pytest.raises(SettingOutOfRange, match="beta must be a number above 0, not 0"):
            SkillSettings(beta=0)

    @settings(max_examples=20)
    @given(seed=st.integers(0, 10_000))
    def test_order_of_rows_and_names_changes_nothing(self, seed):
        table = simulated_table(seed, annotations=1)
        ratings, rows, names = (
            {bot.bot: (bot.mu, bot.sigma) for bot in rate_skills(play_games(t), n_shuffles=2).bots}
            for t in (table, shuffled(table, seed), renamed(table, seed))
        )
        assert rows == ratings
        for bot, rating in ratings.items():
            assert names[bot] == pytest.approx(rating, abs=1e-9)


class TestLevel:
    """Games tell differences of skills alone."""

    def test_mean_mu_is_the_prior_s_whatever_the_seed(self):
        games = play_games(simulated_table(3, per_pair=30))
        runs = [[bot.mu for bot in rate_skills(games, seed=seed).bots] for seed in (1, 2, 3)]
        assert np.mean(runs, axis=1) == pytest.approx([25.0] * 3, abs=1e-9)
        assert np.ptp(runs, axis=0).max() < 0.05

    def test_groups_that_never_met_have_their_level_each_and_no_ranks(self):
        rows = [(i, *"AB", 2, (2 * (i % 3 > 0), 1), 0) for i in range(9)]
        rows += [(9 + i, *"CD", 2, (2 * (i % 2), 1), 1) for i in range(9)]
        bots = rate_skills(play_games(table_of(rows, tuple("ABCD")))).bots
        assert [bots[0].mu + bots[1].mu, bots[2].mu + bots[3].mu] == pytest.approx([50, 50])
        assert [bot.rank_low for bot in bots] == [None] * 4


class TestBounds:
    def test_standard_errors_of_independent_games_are_the_bootstrap_s(self):
        # 1,500 bootstrap samples of single games at the same draw probability, one order each, by the same updates.
        games = play_games(simulated_table(4, per_pair=15))
        chance = SkillSettings(draw_probability=float(np.mean(games.outcome == 0)))
        ratings = rate_skills(games, settings=chance, clusters=Clusters.NONE).bots
        rows = np.random.default_rng(2).integers(len(games), size=(len(games), 1500))
        winner = np.where(games.outcome < 0, games.second, games.first)
        loser = np.where(games.outcome < 0, games.first, games.second)
        margin = _margin(known(chance.draw_probability))
        drawn, priors = (games.outcome == 0)[rows], chance.priors(3)
        mu, _ = play_matches(winner[rows], loser[rows], drawn, priors, margin=margin, settings=chance)
        # The order of a sample's matches adds a variance of its own.
        spread = np.var(mu - mu.mean(axis=0), axis=1) - np.square([bot.order_spread for bot in ratings])
        errors = [known(bot.uncertainty.standard_error) for bot in ratings]
        assert errors == pytest.approx(np.sqrt(spread), rel=0.08)

    def test_the_draw_probability_s_own_error_is_a_part(self):
        games = play_games(simulated_table(4, per_pair=15))
        share = float(np.mean(games.outcome == 0))
        near = [
            np.array([bot.mu for bot in rate_skills(games, n_shuffles=400, settings=each).bots])
            for each in (SkillSettings(draw_probability=share + 0.01), SkillSettings(draw_probability=share - 0.01))
        ]
        slope = (near[0] - near[1]) / 0.02
        mu = np.array([bot.mu for bot in rate_skills(games).bots])
        with_share, without = (
            found.scores @ found.moves
            for found in (
                _Player(games, share, each, each.priors(len(mu))).influence(mu)
                for each in (STANDARD, SkillSettings(draw_probability=share))
            )
        )
        tie = int(np.flatnonzero(games.outcome == 0)[0])
        assert (with_share - without)[tie] * len(games) / (1 - share) == pytest.approx(slope, abs=0.05)

    def test_both_kinds_of_clusters_count_less_what_they_share(self):
        games = play_games(simulated_table(5, per_pair=8, annotators=12))
        both, conversation, annotator, single = (
            np.square([known(bot.uncertainty.standard_error) for bot in rate_skills(games, clusters=each).bots])
            for each in (Clusters.BOTH, Clusters.CONVERSATION, Clusters.ANNOTATOR, Clusters.NONE)
        )
        # Of 144 annotations by twelve few share both, so that what they share is nearly that of single games.
        assert both == pytest.approx(np.maximum(single, conversation + annotator - single), rel=0.15)

    def test_games_that_join_annotations_share_annotators(self):
        games = play_games(simulated_table(5, per_pair=8, annotators=12), unit=Unit.SEGMENT)
        first = rate_skills(games).bots[0]
        assert first.uncertainty.annotators == 12
        assert first.low is not None

    def test_ranks_are_those_of_the_stronger(self):
        ratings = rate_skills(play_games(simulated_table(3, per_pair=30, annotators=12)))
        assert [(bot.bot, bot.rank_low, bot.rank_high, bot.cluster) for bot in ratings.bots] == [
            ("A", 3, 3, 3),
            ("B", 2, 2, 2),
            ("C", 1, 1, 1),
        ]

    @pytest.mark.parametrize("better", ["A", "B"])  # the first of the two in the order of names, and the second
    def test_a_bot_that_wins_nearly_all_games_is_ranked_first(self, better):
        won, lost = ((2, 0), (0, 2)) if better == "A" else ((0, 2), (2, 0))
        rows = [(at, "A", "B", 2, lost if at % 10 == 0 else won, at % 13) for at in range(60)]
        ratings = rate_skills(play_games(table_of(rows, ("A", "B"))))
        assert {bot.bot: (bot.rank_low, bot.rank_high) for bot in ratings.bots} == {
            better: (1, 1),
            "AB".replace(better, ""): (2, 2),
        }

    def test_bots_that_only_tied_have_no_bounds_and_the_reason(self):
        ties = play_games(table_of([(i, "A", "B", 2, (1, 1), i % 4) for i in range(12)], ("A", "B")))
        assert {bot.reason for bot in rate_skills(ties).bots} == {"every game is a tie"}

    def test_a_bot_that_never_lost_has_no_bounds_and_the_reason(self):
        rows = [(i, "A", "B", 2, (2, 0), i % 4) for i in range(12)]
        for bot in rate_skills(play_games(table_of(rows, ("A", "B")))).bots:
            assert (bot.low, bot.high, bot.rank_low) == (None, None, None)
            assert (
                bot.reason
                == "some bots never lost to the others nor tied with them: the prior alone bounds their ratings"
            )
