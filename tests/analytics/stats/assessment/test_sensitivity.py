import csv
import itertools
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from spotthebot.analytics.stats import SettingOutOfRange, compare_proportions
from spotthebot.analytics.stats.assessment.sensitivity import (
    PublishedTest,
    published_sign_tests,
    published_tests,
    sign_tests,
    t_tests,
    z_tests,
)
from tests.factories.lazy_imports import lazily

ttest_ind = lazily("scipy.stats:ttest_ind")
student = lazily("scipy.stats:t")
binomtest = lazily("scipy.stats:binomtest")

PUBLISHED = Path(__file__).parents[5] / "shared" / "data" / "abc-eval" / "published"
_LEVELS = (0.001, 0.01, 0.05)


def _rows(name):
    if not PUBLISHED.exists():
        pytest.skip("ABC-Eval's published results ../shared/data/abc-eval/published are not here")
    with (PUBLISHED / name).open() as file:
        return list(csv.reader(file))


def _printed(category):
    return {
        row[1]: [int(each) for each in row[2:5]] for row in _rows("sensitivity_table.csv")[1:] if row[0] == category
    }


def _by_label(name):
    """Return each label's numbers of each bot: the estimate, both bounds, and n."""
    found = defaultdict(list)
    for bot, label, *numbers in sorted(_rows(name)[1:]):
        found[label].append([float(each) for each in numbers])
        assert bot
    return {label: np.array(each).T for label, each in found.items()}


class TestPublishedTables:
    """Shares and means are printed with three digits, which moves a p-value across a level here and there."""

    def test_counts_of_z_tests_are_those_of_the_published_table(self):
        printed = _printed("behavior")
        differ = []
        for label, (share, _, _, n) in _by_label("surge_behavior_rates.csv").items():
            found = z_tests(share, n)
            differ += [
                abs(int(np.sum(found < level)) - count) for level, count in zip(_LEVELS, printed[label], strict=True)
            ]
        assert len(differ) == 48
        assert differ.count(0) >= 41
        assert max(differ) <= 2

    @pytest.mark.parametrize("kind", ["turn", "dialogue"])
    def test_counts_of_t_tests_are_within_one_pair_of_the_published_table(self, kind):
        printed = _printed(f"likert {kind}")
        differ = []
        for label, (mean, low, high, n) in _by_label(f"surge_likert_{kind}_ratings.csv").items():
            variance = ((high - low) / 2 / student.ppf(0.975, n - 1)) ** 2 * n
            found = t_tests(mean, variance, n)
            differ += [
                abs(int(np.sum(found < level)) - count) for level, count in zip(_LEVELS, printed[label], strict=True)
            ]
        assert len(differ) == 24
        assert max(differ) == 1


class TestTests:
    def test_z_is_the_comparison_of_two_shares(self):
        found = z_tests(np.array([0.3, 0.5, 0.0]), np.array([50.0, 40.0, 30.0]))
        counts = [(15, 50), (20, 40), (0, 30)]
        expected = [compare_proportions(*one, *other).p_value for one, other in itertools.combinations(counts, 2)]
        assert found.tolist() == pytest.approx(expected)

    def test_z_of_two_certain_shares_is_not_defined(self):
        assert np.isnan(z_tests(np.array([0.0, 0.0]), np.array([50.0, 50.0]))).all()

    def test_t_is_student_s_of_scipy(self):
        rng = np.random.default_rng(0)
        samples = [rng.normal(size=n) + n / 20 for n in (8, 12, 20)]
        found = t_tests(*(np.array([f(each) for each in samples]) for f in (np.mean, lambda x: x.var(ddof=1), len)))
        expected = [ttest_ind(one, other).pvalue for one, other in itertools.combinations(samples, 2)]
        assert found.tolist() == pytest.approx(expected)

    def test_sign_is_the_binomial_test_of_scipy(self):
        wins, losses = np.array([3.0, 9.0, 5.0]), np.array([8.0, 1.0, 5.0])
        expected = [binomtest(int(one), int(one + other)).pvalue for one, other in zip(wins, losses, strict=True)]
        assert sign_tests(wins, losses).tolist() == pytest.approx(expected)


class TestPublishedTestsOfValues:
    def test_shares_have_z_tests_over_all_values(self):
        bot, dialogue = np.repeat([0, 1], 100), np.repeat(np.arange(20), 10)
        value = np.concatenate([np.arange(100) % 10 < 5, np.arange(100) % 10 < 2]).astype(float)
        found = published_tests(value, bot, dialogue, n_bots=2)
        assert found.test is PublishedTest.Z
        assert list(found.p_values) == [pytest.approx(compare_proportions(50, 100, 20, 100).p_value)]
        assert found.dialogues_per_bot == 10

    def test_ratings_have_t_tests(self):
        rng = np.random.default_rng(2)
        value = rng.integers(1, 6, size=40).astype(float)
        found = published_tests(value, np.repeat([0, 1], 20), np.arange(40), n_bots=2)
        assert found.test is PublishedTest.T
        assert list(found.p_values) == [pytest.approx(ttest_ind(value[:20], value[20:]).pvalue)]

    def test_as_many_dialogues_of_each_bot_are_drawn(self):
        # Of the first bot 5 dialogues are drawn of 50, whichever: all are alike.
        value = np.concatenate([np.tile([1.0, 2.0], 50), np.tile([2.0, 3.0], 5)])
        found = published_tests(value, np.repeat([0, 1], [100, 10]), np.arange(110) // 2, n_bots=2)
        assert found.dialogues_per_bot == 5
        assert list(found.p_values) == [pytest.approx(ttest_ind([1.0, 2.0] * 5, [2.0, 3.0] * 5).pvalue)]

    def test_the_seed_decides_which(self):
        rng = np.random.default_rng(3)
        value, bot = rng.normal(size=200), np.arange(200) % 2
        drawn = [published_tests(value, bot, np.arange(200), n_bots=2, dialogues_per_bot=10, seed=s) for s in (1, 1, 2)]
        assert drawn[0] == drawn[1]
        assert drawn[0].p_values != drawn[2].p_values

    def test_refuses_more_dialogues_than_a_bot_has(self):
        with pytest.raises(SettingOutOfRange, match="a whole number from 1 to 2, the dialogues of the bot"):
            published_tests([1, 2, 3, 4], [0, 0, 1, 1], range(4), n_bots=2, dialogues_per_bot=3)

    def test_one_bot_has_no_pair(self):
        assert published_tests([1, 2], [0, 0], [0, 1], n_bots=1).p_values == ()

    def test_values_that_are_all_alike_tell_nothing(self):
        found = published_tests([3, 3, 3, 3], [0, 0, 1, 1], range(4), n_bots=2)
        assert (found.p_values, found.significant["0.1"]) == ((None,), 0)


class TestPublishedSignTests:
    def test_leave_ties_out_and_take_either_order(self):
        preferred = [1, 1, 1, 0.5, 0, 0, 0, 0]
        found = published_sign_tests(preferred, [0, 0, 0, 0, 1, 1, 1, 0], [1, 1, 1, 1, 0, 0, 0, 1], n_bots=2)
        assert list(found.p_values) == [pytest.approx(binomtest(6, 7).pvalue)]

    def test_a_pair_that_never_met_leaves_nothing_to_draw(self):
        found = published_sign_tests([1, 1], [0, 0], [1, 1], n_bots=3)
        assert (found.dialogues_per_bot, found.p_values) == (0, (None, None, None))
