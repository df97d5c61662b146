"""The ceiling, against Pearson's correlation, the published data and a simulated perfect judge."""

import numpy as np
import pytest
from scipy import stats as scipy_stats

from benchmarks.analytics.judges.campaigns import CONVERSATIONS, Setting, draw_campaign, spread_of
from spotthebot.analytics.stats.annotations import LabelCode
from spotthebot.analytics.stats.judged.ceiling import ceiling_of_labels, judge_ceiling
from tests.factories.published_dump import published_table


class TestCeiling:
    def test_is_the_symmetric_correlation_of_two_people(self):
        """With each pair in both orders, both columns have one mean and one variance: Pearson's r."""
        rng = np.random.default_rng(0)
        unit = np.repeat(np.arange(100), 2)
        shared = rng.normal(size=100)[unit]
        value = (shared + rng.normal(size=200) > 0).astype(float)
        annotator = np.array([rng.choice(9, 2, replace=False) for _ in range(100)]).ravel()
        found = judge_ceiling(unit, 0 * unit, unit, annotator, value)
        pairs = value.reshape(-1, 2)
        both = np.concatenate([pairs, pairs[:, ::-1]])
        assert found.estimate is not None
        assert found.estimate == pytest.approx(scipy_stats.pearsonr(both[:, 0], both[:, 1]).statistic, rel=1e-12)
        assert (found.n, found.units) == (100, 100)
        assert found.low is not None
        assert found.high is not None
        assert found.low < found.estimate < found.high

    def test_does_not_count_what_groups_differ_in(self):
        rng = np.random.default_rng(1)
        unit = np.repeat(np.arange(4000), 2)
        group = unit % 2
        value = (rng.random(8000) < np.where(group == 0, 0.1, 0.9)).astype(float)
        annotator = np.tile(np.arange(2), 4000) + 2 * rng.integers(20, size=8000)
        within, across = (judge_ceiling(unit, each, unit, annotator, value).estimate for each in (group, 0 * group))
        assert within == pytest.approx(0, abs=0.05)
        assert across == pytest.approx(0.64, abs=0.05)

    def test_counts_every_pair_of_three_people_and_no_person_twice(self):
        unit, annotator = np.array([0, 0, 0, 1, 1]), np.array([3, 4, 5, 6, 6])
        found = judge_ceiling(unit, 0 * unit, unit, annotator, np.array([1.0, 0.0, 1.0, 0.0, 0.0]))
        assert (found.n, found.units) == (3, 1)

    def test_has_a_reason_where_labels_are_single(self):
        found = judge_ceiling(np.arange(3), np.zeros(3, dtype=int), np.arange(3), np.arange(3), np.ones(3))
        assert (found.estimate, found.reason) == (None, "no two people labelled the same unit")

    def test_has_a_reason_where_labels_are_all_alike(self):
        unit = np.array([0, 0, 1, 1])
        found = judge_ceiling(unit, 0 * unit, unit, np.array([0, 1, 0, 1]), np.ones(4))
        assert found.estimate is None
        assert found.reason is not None

    @pytest.mark.parametrize(
        ("domain", "fooling", "outcome"), [("dailydialog", 0.118, 0.083), ("empathetic", 0.249, 0.266)]
    )
    def test_is_as_measured_before_for_published_labels(self, domain: str, fooling: float, outcome: float):
        """The measured figures did not say how bots and lengths were centred, so they are met to 1 point."""
        table = published_table(domain, "pkg").between_bots()
        labels = ceiling_of_labels(table, (table.label == LabelCode.HUMAN).astype(float))
        assert labels.estimate == pytest.approx(fooling, abs=0.01)
        assert labels.low is not None
        assert labels.high is not None
        assert labels.low < fooling < labels.high
        segment = np.unique(np.column_stack([table.conversation, table.exchanges]), axis=0, return_inverse=True)[1]
        low, high = table.entity.min(axis=1), table.entity.max(axis=1)
        won = np.sign(table.label[:, 0] - table.label[:, 1]) * np.where(table.entity[:, 0] == low, 1.0, -1.0)
        games = judge_ceiling(segment.reshape(-1), low * 100 + high, table.text, table.annotator, won)
        assert games.estimate == pytest.approx(outcome, abs=0.005)

    def test_is_what_a_perfect_judge_explains_of_labels(self):
        """Without annotators who differ, the variance of P(human | text) over that of labels is the ceiling."""
        setting = Setting(3000, 0.0)
        large = draw_campaign(setting, np.random.default_rng(0), conversations=40 * CONVERSATIONS)
        found = ceiling_of_labels(large.table, (large.table.label == LabelCode.HUMAN).astype(float))
        chance = scipy_stats.norm.cdf((large.content - 0.25) / spread_of(setting))
        explained, total = [], []
        for length in (2, 3, 5):
            for bot in range(4):
                own = chance[(large.entity == bot) & (large.exchanges == length)[:, None]]
                explained.append(own.var())
                total.append(own.mean() * (1 - own.mean()))
        assert found.estimate == pytest.approx(np.mean(explained) / np.mean(total), abs=0.02)
