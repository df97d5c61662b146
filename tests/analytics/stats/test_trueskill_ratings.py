"""The package `trueskill` and our ratings: its ratings are our priors, and ours go on in its environment."""

import numpy as np
import pytest
import trueskill

from spotthebot.analytics.stats.skill import rate_skills
from spotthebot.analytics.stats.trueskill_ratings import environment_of, ratings_of, settings_of
from spotthebot.analytics.stats.trueskill_updates import Priors, SkillSettings, draw_margin, play_matches
from spotthebot.analytics.stats.wins import Games, play_games
from spotthebot.statistics.errors import SettingOutOfRange
from tests.analytics.stats.annotation_tables import simulated_table
from tests.factories.known import known

NAMES = ("A", "B", "C")
FIXED = SkillSettings(draw_probability=0.4)


def _games(seed: int = 3) -> Games:
    return play_games(simulated_table(seed, names=NAMES, per_pair=20))


def _rows(games: Games, rows: np.ndarray) -> Games:
    of_rows = {name: getattr(games, name)[rows] for name in ("first", "second", "outcome", "conversation", "annotator")}
    return Games(**{**games.__dict__, **of_rows})


class TestPriors:
    @pytest.mark.parametrize("tau", [0.0, 0.3])
    def test_are_where_the_package_begins_too(self, tau: float):
        environment = trueskill.TrueSkill(tau=tau, draw_probability=0.4, backend="scipy")
        settings = settings_of(environment)
        ratings = [environment.create_rating(*each) for each in ((30, 2), (25, 5), (18, 8))]
        before = Priors(np.array([each.mu for each in ratings]), np.array([each.sigma for each in ratings]))
        matches = [(0, 1, False), (2, 1, True), (2, 0, False), (1, 0, False), (0, 2, True)]
        winner, loser, drawn = (np.array(column)[:, None] for column in zip(*matches, strict=True))
        margin = draw_margin(0.4, settings.beta)
        mu, sigma = play_matches(winner, loser, drawn, before, margin=margin, settings=settings)
        for first, second, is_drawn in matches:
            ratings[first], ratings[second] = trueskill.rate_1vs1(
                ratings[first], ratings[second], drawn=is_drawn, env=environment
            )
        np.testing.assert_allclose(mu[:, 0], [each.mu for each in ratings], atol=1e-9)
        np.testing.assert_allclose(sigma[:, 0], [each.sigma for each in ratings], atol=1e-9)

    def test_keep_their_mean_weighted_by_precision(self):
        """Games tell differences alone, so the sum of (mu - prior's mu) / sigma² is 0."""
        priors = {"A": trueskill.Rating(30, 2), "C": trueskill.Rating(20, 9)}
        found = {bot.bot: bot.mu for bot in rate_skills(_games(), settings=FIXED, priors=priors).bots}
        before = priors | {"B": trueskill.Rating(25, 25 / 3)}
        moved = [(found[bot] - before[bot].mu) / before[bot].sigma ** 2 for bot in NAMES]
        assert sum(moved) == pytest.approx(0, abs=1e-9)
        assert max(map(abs, moved)) > 0.01

    def test_made_of_the_games_before_give_what_all_games_give_in_their_order(self):
        games = _games()
        columns = (
            np.where(games.outcome < 0, games.second, games.first),
            np.where(games.outcome < 0, games.first, games.second),
        )
        winner, loser, drawn = (each[:, None] for each in (*columns, games.outcome == 0))

        def play(rows: slice, before: Priors) -> Priors:
            margin = draw_margin(0.4, FIXED.beta)
            mu, sigma = play_matches(winner[rows], loser[rows], drawn[rows], before, margin=margin, settings=FIXED)
            return Priors(mu[:, 0], sigma[:, 0])

        half = len(games) // 2
        on, whole = play(slice(half, None), play(slice(half), FIXED.priors(3))), play(slice(None), FIXED.priors(3))
        np.testing.assert_allclose(on.mu, whole.mu, rtol=1e-12)
        np.testing.assert_allclose(on.sigma, whole.sigma, rtol=1e-12)

    def test_from_earlier_games_leave_less_to_be_unsure_of(self):
        games = _games()
        earlier, later = np.arange(0, len(games), 2), np.arange(1, len(games), 2)
        before = ratings_of(rate_skills(_rows(games, earlier), settings=FIXED))
        on, alone = (rate_skills(_rows(games, later), settings=FIXED, priors=each) for each in (before, None))
        for one, other, whole in zip(on.bots, alone.bots, rate_skills(games, settings=FIXED).bots, strict=True):
            assert one.sigma == pytest.approx(whole.sigma, rel=0.02)
            assert one.sigma < other.sigma
            assert one.mu == pytest.approx(whole.mu, abs=whole.sigma)

    def test_narrow_the_bounds_of_a_bot_that_is_known_well(self):
        games = _games()
        wide = rate_skills(games, settings=FIXED).bots[0]
        narrow = rate_skills(games, settings=FIXED, priors={"A": trueskill.Rating(wide.mu, 0.1)}).bots[0]
        assert known(narrow.high) - known(narrow.low) < (known(wide.high) - known(wide.low)) / 2

    def test_stay_where_every_game_is_a_tie(self):
        games = _games()
        ties = Games(**{**games.__dict__, "outcome": np.zeros_like(games.outcome)})
        found = rate_skills(ties, priors={"B": trueskill.Rating(40, 3)})
        assert [bot.mu for bot in found.bots] == pytest.approx([25, 40, 25])
        assert [bot.sigma for bot in found.bots] == pytest.approx([25 / 3, 3, 25 / 3])

    @pytest.mark.parametrize("prior", [{"D": trueskill.Rating()}, {"A": trueskill.Rating(float("nan"), 1)}])
    def test_are_refused_for_bots_that_did_not_play_and_without_numbers(self, prior: dict[str, trueskill.Rating]):
        with pytest.raises(SettingOutOfRange, match="priors"):
            rate_skills(_games(), priors=prior)


class TestEnvironment:
    def test_goes_through_ours_and_back(self):
        environment = trueskill.TrueSkill(mu=1500, sigma=500, beta=250, tau=5, draw_probability=0.2)
        again = environment_of(rate_skills(_games(), settings=settings_of(environment)))
        for name in ("mu", "sigma", "beta", "tau", "draw_probability"):
            assert getattr(again, name) == getattr(environment, name)

    def test_has_the_draw_probability_of_the_games_where_none_was_given(self):
        games = _games()
        assert environment_of(rate_skills(games)).draw_probability == pytest.approx(np.mean(games.outcome == 0))

    def test_with_a_function_for_the_draw_probability_is_refused(self):
        with pytest.raises(SettingOutOfRange, match="draw_probability"):
            settings_of(trueskill.TrueSkill(draw_probability=lambda *_: 0.1))

    def test_calls_the_match_even_that_our_ratings_call_even(self):
        ours = rate_skills(_games(), settings=FIXED)
        ratings, environment = ratings_of(ours), environment_of(ours)
        by_mu = sorted(NAMES, key=lambda bot: ratings[bot].mu)
        quality = [trueskill.quality_1vs1(ratings[by_mu[0]], ratings[bot], env=environment) for bot in by_mu]
        assert quality == sorted(quality, reverse=True)
