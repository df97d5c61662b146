"""Ranks by fooling rate where no two bots met, and fooling rates by partner."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats as distributions

from spotthebot.analytics.stats.annotations import HUMAN, AnnotationTable, LabelCode
from spotthebot.analytics.stats.annotators import without_weak_annotators
from spotthebot.analytics.stats.fooling_rate import fooling_rates, labels_as_ratings
from spotthebot.analytics.stats.partner_rates import partner_differences, with_people
from spotthebot.analytics.stats.rating_differences import rating_differences
from spotthebot.analytics.stats.ratings import rank_ratings
from tests.factories.clustered_campaigns import Setting, draw_chats

CHANCES = np.array([[0.2, 0.2, 0.2], [0.6, 0.6, 0.6], [0.2, 0.2, 0.2], [0.15, 0.15, 0.15]])
"""Of "bot"; the last row is people's."""
HUMANS = np.array([[0.7, 0.7, 0.7], [0.2, 0.2, 0.2], [0.65, 0.65, 0.65], [0.8, 0.8, 0.8]])


def _chats(seed: int = 1, *, with_bots: bool = False) -> AnnotationTable:
    setting = Setting(3, 20, 30, 0.05, taste=True)
    return draw_chats(setting, CHANCES, HUMANS, np.random.default_rng(seed), with_bots=with_bots)


class TestRanks:
    def test_are_by_the_fooling_rates_and_tell_the_weak_bot_apart(self):
        table = _chats()
        assert not table.has_games
        ranked = rank_ratings(labels_as_ratings(table)).bots
        rates = {each.bot: each.estimate for each in fooling_rates(table)}
        assert {each.bot: each.estimate for each in ranked} == pytest.approx(
            {bot: rate for bot, rate in rates.items() if bot != HUMAN}
        )
        assert {each.bot: (each.rank_low, each.rank_high) for each in ranked} == {
            "bot 0": (1, 2),
            "bot 2": (1, 2),
            "bot 1": (3, 3),
        }

    def test_are_unchanged_by_labels_of_people(self):
        table = _chats()
        people = table.entity == table.names.index(HUMAN)
        other = replace(table, label=np.where(people, LabelCode.BOT, table.label))
        assert rank_ratings(labels_as_ratings(other)) == rank_ratings(labels_as_ratings(table))

    def test_single_labels_by_different_people_give_welch_like_errors(self):
        """One label of each text by an annotator of its own: the variance is that of independent shares."""
        n = 40
        human = np.arange(2 * n) % 4 < np.repeat([3, 1], n)
        table = AnnotationTable(
            names=("A", "B", HUMAN),
            conversation=np.arange(2 * n),
            entity=np.column_stack([np.repeat([0, 1], n), np.full(2 * n, 2)]),
            exchanges=np.full(2 * n, 2),
            label=np.column_stack([np.where(human, LabelCode.HUMAN, LabelCode.BOT), np.full(2 * n, LabelCode.HUMAN)]),
            annotator=np.arange(2 * n),
        )
        (found,) = rating_differences(labels_as_ratings(table))
        assert found.estimate == 0.5  # 3 of 4 and 1 of 4
        error = np.sqrt(2 * 0.75 * 0.25 / n)
        assert found.uncertainty.standard_error == pytest.approx(error, rel=0.03)
        assert found.uncertainty.standard_error is not None
        assert found.uncertainty.degrees_of_freedom is not None
        reach = distributions.t.ppf(0.975, found.uncertainty.degrees_of_freedom) * found.uncertainty.standard_error
        assert (found.low, found.high) == pytest.approx((0.5 - reach, 0.5 + reach))

    def test_without_weak_annotators_are_by_fooling_rate_too(self):
        found = without_weak_annotators(_chats(), thresholds=(0.0,))
        assert [(each.kendall_tau, each.moved) for each in found] == [(1.0, ())]


class TestGames:
    def test_are_there_only_if_two_different_bots_met(self):
        assert _chats(with_bots=True).has_games
        alone = [
            (0, "A", "A", 2, "bot", "bot", 0),
            (1, "B", HUMAN, 2, "bot", "bot", 0),
            (2, "HU", "HU", 2, "bot", "bot", 0),
        ]
        assert not AnnotationTable.from_rows(alone).has_games


class TestPartners:
    def test_difference_is_the_rate_with_people_minus_the_rate_with_bots(self):
        table = _chats(with_bots=True)
        found = {each.bot: each for each in partner_differences(table)}
        people = {each.bot: each for each in fooling_rates(with_people(table))}
        bots = {each.bot: each for each in fooling_rates(table.between_bots())}
        assert set(found) == {"bot 0", "bot 1", "bot 2"}
        for name, each in found.items():
            with_person, with_bot = people[name].estimate, bots[name].estimate
            assert with_person is not None
            assert with_bot is not None
            assert each.estimate == pytest.approx(with_person - with_bot)
            assert (each.n_with_people, each.n_with_bots) == (people[name].n, bots[name].n)
            assert each.low is not None
            assert each.high is not None
            assert each.low < each.estimate < each.high

    def test_bot_that_is_another_one_with_people_is_found_and_others_are_not(self):
        table = _chats(with_bots=True)
        with_person = (table.entity == table.names.index(HUMAN)).any(axis=1)
        worse = (table.entity == 0) & with_person[:, None]
        changed = replace(table, label=np.where(worse, LabelCode.BOT, table.label))
        found = {each.bot: each.p_adjusted for each in partner_differences(changed)}
        assert found["bot 0"] is not None
        assert found["bot 0"] < 0.001
        assert all(p is not None and p > 0.05 for bot, p in found.items() if bot != "bot 0")

    def test_bots_with_one_kind_of_partner_are_not_compared(self):
        assert partner_differences(_chats()) == ()
        rows = [(0, "A", "B", 2, "bot", "human", 0), (1, "A", HUMAN, 2, "human", "human", 1)]
        (found,) = partner_differences(AnnotationTable.from_rows(rows))
        assert (found.bot, found.low, found.reason is not None) == ("A", None, True)
