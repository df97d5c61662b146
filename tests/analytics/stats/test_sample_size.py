import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from spotthebot.analytics.stats.outcome_correlation import outcome_correlation
from spotthebot.analytics.stats.pair_power import MAX_CONVERSATIONS, Design, power_of, smallest_p
from spotthebot.analytics.stats.sample_size import least_conversations, plan_annotators, plan_conversations
from spotthebot.analytics.stats.significance import pair_tests
from spotthebot.analytics.stats.wins import games_between
from spotthebot.statistics.errors import SettingOutOfRange
from spotthebot.statistics.uncertainty import Clusters
from tests.analytics.stats.clustered_games import draw_games
from tests.factories.known import known
from tests.factories.lazy_imports import lazily

TTestPower = lazily("statsmodels.stats.power:TTestPower")

ALONE = Design(
    tie_rate=0,
    annotations_per_conversation=1,
    conversation_correlation=0,
    annotator_correlation=0,
    annotations_per_annotator=1,
)


def _written_out(win_rate, conversations, design, annotators, level):
    """The power as the docstrings have it, without a function of the planner."""
    t, a = design.tie_rate, design.annotations_per_conversation
    games = conversations * a
    of_conversations = 1 + (a - 1) * design.conversation_correlation
    of_annotators = 1 + (games / annotators - 1) * design.annotator_correlation
    effect = of_conversations + of_annotators - 1
    # Clusters of b decided games, binomial: (sum of b)² / sum of b² = clusters / (1 + variance / mean²).
    effective_conversations = conversations / (1 + a * t * (1 - t) / (a * (1 - t)) ** 2)
    each = games / annotators
    effective_annotators = annotators / (1 + each * t * (1 - t) / (each * (1 - t)) ** 2)
    degrees = effect**2 / (
        of_conversations**2 / (effective_conversations - 1) + of_annotators**2 / (effective_annotators - 1)
    )
    lead = 2 * (win_rate - 0.5) * math.sqrt(games * (1 - t) / effect)
    critical = stats.t.isf(level / 2, degrees)
    return stats.nct.sf(critical, degrees, lead) + stats.nct.cdf(-critical, degrees, lead)


def _found(win_rate, design, conversations, annotators, *, n_pairs=1):
    """How often a test finds this win rate in 990 simulated pairs, alone or, of three and more, pooled."""
    rng = np.random.default_rng(1)
    together = n_pairs >= 3
    k = round((1 + math.sqrt(1 + 8 * n_pairs)) / 2) if together else 45
    tests = [
        test
        for _ in range(990 // (k * (k - 1) // 2))
        for test in pair_tests(
            draw_games(
                rng,
                k=k,
                win_rate=win_rate,
                tie_rate=design.tie_rate,
                shape=(conversations, int(design.annotations_per_conversation), annotators),
                correlations=(design.conversation_correlation, design.annotator_correlation),
                shares_annotators=together,
            )
        )
    ]
    p_values = [test.p_value if together else _alone(test) for test in tests]
    return np.mean([p_value is not None and p_value < 0.05 / n_pairs for p_value in p_values])


def _alone(test):
    """The p-value that a pair of a family would have without the others."""
    if test.p_value is None:
        return None
    if test.uncertainty.pooled.own is None:
        return 2 * 0.5 ** min(test.uncertainty.conversations, test.uncertainty.annotators)
    statistic = (
        2 * abs(test.estimate - 0.5) * math.sqrt(test.n / max(test.n / (test.n - 1), test.uncertainty.pooled.own))
    )
    return 2 * stats.t.sf(statistic, test.uncertainty.pooled.own_degrees_of_freedom)


class TestPowerOf:
    @pytest.mark.parametrize(("win_rate", "n"), [(0.6, 50), (0.75, 20), (0.9, 8)])
    def test_without_clusters_is_that_of_statsmodels(self, win_rate, n):
        # One game a conversation and an annotator: either part has n - 1 degrees of freedom, and they add up by halves.
        expected = TTestPower().power(2 * win_rate - 1, n, 0.05, df=(n - 1) / 2)
        assert power_of(win_rate, n, ALONE) == pytest.approx(expected, abs=1e-6)

    @pytest.mark.parametrize(("annotators", "level", "n_pairs"), [(20, 0.05, 1), (35, 0.05, 2), (12, 0.01, 2)])
    def test_is_the_formula_written_out(self, annotators, level, n_pairs):
        design = Design(annotators=annotators)
        expected = _written_out(0.7, 60, design, annotators, level / n_pairs)
        assert power_of(0.7, 60, design, significance_level=level, n_pairs=n_pairs) == pytest.approx(expected)

    def test_lets_annotators_grow_with_the_work_of_all_pairs(self):
        # 2 pairs of 40 conversations of 6 annotations, 60 an annotator: 8 annotators.
        assert power_of(0.7, 40, n_pairs=2) == pytest.approx(_written_out(0.7, 40, Design(), 8, 0.05 / 2))

    def test_counts_each_annotator_of_a_joined_game(self):
        # Both annotators of a segment have 30 games of a pair: 2 * 29 times a game shares an annotator with another.
        design = Design(annotations_per_conversation=3, annotators=6, annotators_per_game=2, annotator_correlation=0.05)
        assert design.design_effect(30) == pytest.approx(1 + 2 * 0.1 + 2 * 29 * 0.05)

    def test_power_of_even_bots_is_the_level(self):
        assert power_of(0.5, 30, n_pairs=2) == pytest.approx(0.025)

    def test_has_the_degrees_of_freedom_of_all_pairs_where_there_are_three_or_more(self):
        """Of 20 annotators a pair alone has few; with five others it finds nearly what a normal test would."""
        design, level = Design(annotators=20), 0.05 / 6
        lead = 2 * 0.3 * math.sqrt(40 * 6 * 0.3 / design.design_effect(40, 6))
        normal = stats.norm.cdf((lead - stats.norm.isf(level / 2)) / math.sqrt(4 * 0.8 * 0.2))
        alone = _written_out(0.8, 40, design, 20, level)
        assert alone < power_of(0.8, 40, design, n_pairs=6) < normal

    def test_is_the_same_for_both_sides(self):
        assert power_of(0.3, 40) == pytest.approx(power_of(0.7, 40), abs=1e-9)

    @pytest.mark.parametrize("n_pairs", [1, 6])
    def test_power_of_one_conversation_or_none_is_0_and_p_is_1(self, n_pairs):
        for conversations in (0, 1):
            assert power_of(0.99, conversations, n_pairs=n_pairs) == 0
            assert smallest_p(conversations, n_pairs=n_pairs) == 1

    @pytest.mark.parametrize(("annotators", "n_pairs"), [(3, 2), (4, 2), (4, 1)])
    def test_power_of_a_certain_lead_depends_on_the_variance_that_few_annotators_show(self, annotators, n_pairs):
        design = Design(tie_rate=0, annotators=annotators, annotator_correlation=0.001, conversation_correlation=0)
        games, each = 120_000, 120_000 / annotators
        effect = 1 + (each - 1) * 0.001
        degrees = effect**2 / (1 / (20_000 - 1) + effect**2 / (annotators - 1))
        lead = 2 * (0.95 - 0.5) * math.sqrt(games / effect)
        assert lead > 30
        rng = np.random.default_rng(1)
        t = (lead + rng.normal(size=400_000)) / np.sqrt(rng.chisquare(degrees, 400_000) / degrees)
        expected = np.mean(np.abs(t) > stats.t.isf(0.025 / n_pairs, degrees))
        assert power_of(0.95, 20_000, design, n_pairs=n_pairs) == pytest.approx(expected, abs=0.004)

    def test_power_of_more_annotators_than_annotations_of_a_pair_is_that_of_one_each(self):
        assert power_of(0.7, 20, Design(annotators=1000)) == power_of(0.7, 20, Design(annotators=120))


class TestPlanConversations:
    @pytest.mark.parametrize(
        ("win_rate", "design", "n_pairs"),
        [
            (0.75, Design(), 6),
            (0.65, Design(annotators=60), 1),
            (0.7, Design(tie_rate=0.5, annotations_per_conversation=4, conversation_correlation=0.3, annotators=20), 1),
        ],
    )
    def test_reaches_the_power_in_simulated_studies_with_both_kinds_of_clusters(self, win_rate, design, n_pairs):
        plan = plan_conversations(win_rate, design, n_pairs=n_pairs)
        found = _found(win_rate, design, known(plan.conversations), known(plan.annotators), n_pairs=n_pairs)
        # 990 studies have a standard error of .013, and the formula is right to within .02. Without a third of the
        # annotators' correlation it would be wrong by .09 and more.
        assert found == pytest.approx(0.8, abs=0.02 + 2 * 0.013)

    def test_made_without_annotators_falls_far_short_where_annotators_differ(self):
        plan = plan_conversations(0.7, Design(annotator_correlation=0, annotators=12))
        assert _found(0.7, Design(annotator_correlation=0.09), known(plan.conversations), 12) < 0.6

    def test_a_campaign_has_two_annotators_at_least(self):
        design = Design(annotations_per_conversation=6, annotations_per_annotator=60)
        assert [design.annotators_needed(conversations, 1) for conversations in (1, 20, 21)] == [2, 2, 3]

    @settings(max_examples=30)
    @given(win_rate=st.floats(0.55, 0.95), power=st.floats(0.5, 0.95), n_pairs=st.integers(1, 10))
    def test_returns_the_fewest_conversations(self, win_rate, power, n_pairs):
        plan = plan_conversations(win_rate, power=power, n_pairs=n_pairs)
        conversations = known(plan.conversations)
        assert power_of(win_rate, conversations, n_pairs=n_pairs) >= power
        assert power_of(win_rate, conversations - 1, n_pairs=n_pairs) < power
        assert plan.annotators == max(2, math.ceil(n_pairs * conversations * 6 / 60))

    @pytest.mark.parametrize(("annotators", "win_rate"), [(8, 0.9), (20, 0.75), (40, 0.7)])
    def test_returns_the_fewest_conversations_of_a_number_of_annotators(self, annotators, win_rate):
        design = Design(annotators=annotators)
        plan = plan_conversations(win_rate, design)
        enough = [n for n in range(1, known(plan.conversations) + 1) if power_of(win_rate, n, design) >= 0.8]
        assert enough == [plan.conversations]
        assert plan.annotators == annotators

    def test_takes_a_power_that_is_reached_exactly(self):
        for win_rate, conversations in ((0.7, 50), (0.55, 903)):
            power = power_of(win_rate, conversations)
            assert plan_conversations(win_rate, power=power).conversations == conversations
            assert plan_conversations(win_rate, power=math.nextafter(power, 1)).conversations == conversations + 1

    def test_never_returns_fewer_than_two_conversations(self):
        design = Design(tie_rate=0, annotations_per_conversation=1000, annotators=1000, conversation_correlation=0)
        assert plan_conversations(0.999, design, power=0.01).conversations == 2

    def test_looks_as_far_as_its_bound_and_no_farther(self):
        rate = 0.502
        power = power_of(rate, MAX_CONVERSATIONS)
        assert plan_conversations(rate, power=power).conversations == MAX_CONVERSATIONS
        beyond = plan_conversations(rate, power=power * 1.0001)
        assert (beyond.conversations, beyond.reason) == (None, "1,000,000 conversations are not enough")

    def test_more_annotations_a_conversation_do_not_replace_conversations(self):
        few, many = (
            plan_conversations(
                0.7, Design(annotations_per_conversation=a, conversation_correlation=0.3, annotator_correlation=0)
            ).conversations
            for a in (6, 600)
        )
        # The design effect of many is a * .3: at best a conversation is worth 1 / .3 annotations.
        assert known(many) > known(few) * (0.3 / ((1 + 5 * 0.3) / 6)) * 0.9

    def test_few_annotators_with_strong_habits_are_never_enough(self):
        plan = plan_conversations(0.55, Design(annotators=3, annotator_correlation=0.4))
        assert (plan.conversations, plan.reason) == (
            None,
            "3 annotators are too few, whatever the number of conversations",
        )

    def test_gives_no_number_for_even_bots(self):
        assert plan_conversations(0.5).reason == "even bots cannot be told apart"

    @pytest.mark.parametrize(
        ("setting", "value"), [("win_rate", 1.0), ("power", 0.0), ("significance_level", 1.2), ("n_pairs", 0)]
    )
    def test_refuses_settings_out_of_range(self, setting, value):
        with pytest.raises(SettingOutOfRange, match=setting):
            plan_conversations(**({"win_rate": 0.7} | {setting: value}))

    @pytest.mark.parametrize(
        ("setting", "value"),
        [
            ("tie_rate", 1.0),
            ("conversation_correlation", -0.1),
            ("annotations_per_conversation", 0),
            ("annotations_per_annotator", 0),
            ("annotators", 1),
        ],
    )
    def test_refuses_an_impossible_design(self, setting, value):
        with pytest.raises(SettingOutOfRange, match=setting):
            Design(**{setting: value})


class TestAlone:
    def test_is_the_test_of_two_bots(self):
        games = draw_games(
            np.random.default_rng(4), k=4, win_rate=0.8, tie_rate=0.5, shape=(8, 6, 9), correlations=(0.1, 0.09)
        )
        for test in pair_tests(games):
            codes = [games.bots.index(name) for name in (test.bot, test.other)]
            (two,) = pair_tests(games_between(games, np.array(codes)))
            assert known(two.uncertainty).pooled is None
            assert _alone(test) == pytest.approx(two.p_value)


class TestSmallestP:
    @pytest.mark.parametrize(("design", "n_pairs"), [(Design(tie_rate=0.5), 6), (Design(annotators=30), 15)])
    def test_is_that_of_a_bot_that_wins_everything(self, design, n_pairs):
        """Written out: n games in which all agree, with the design effect that is expected."""
        annotators = design.annotators_needed(10, n_pairs)
        games = 10 * design.annotations_per_conversation * (1 - design.tie_rate)
        statistic = math.sqrt(games / design.design_effect(10, n_pairs))
        t, a = design.tie_rate, design.annotations_per_conversation
        each = 10 * a / annotators
        pair = min(10 / (1 + t / (a * (1 - t))), annotators / (1 + t / (each * (1 - t)))) - 1
        whole = annotators / (1 + t / (n_pairs * each * (1 - t))) - 1
        bots = (1 + math.sqrt(1 + 8 * n_pairs)) / 2
        degrees = min(n_pairs * pair, (bots - 1) * whole)
        expected = min(1, n_pairs * 2 * stats.t.sf(statistic, degrees))
        assert smallest_p(10, design, n_pairs=n_pairs) == pytest.approx(expected)

    @pytest.mark.parametrize(("annotators", "n_pairs", "expected"), [(5, 1, 2 * 0.5**5), (5, 2, 4 * 0.5**5), (2, 2, 1)])
    def test_flips_the_signs_of_clusters_for_one_pair_or_two(self, annotators, n_pairs, expected):
        assert smallest_p(40, Design(annotators=annotators), n_pairs=n_pairs) == expected

    @pytest.mark.parametrize("n_pairs", [1, 2, 6, 15])
    def test_is_below_the_level_from_as_many_conversations_on_as_are_needed_at_least(self, n_pairs):
        least = known(least_conversations(n_pairs=n_pairs))
        assert smallest_p(least, n_pairs=n_pairs) < 0.05 <= smallest_p(least - 1, n_pairs=n_pairs)

    def test_is_never_below_the_level_with_few_annotators(self):
        assert least_conversations(Design(annotators=5)) is None

    def test_is_reached_by_no_study_of_the_design(self):
        """With 4 conversations a pair of 5 bots, as in the README, not even one that wins nearly all is told apart."""
        design = Design(conversation_correlation=0.05, annotator_correlation=0.05, annotators=4)
        assert smallest_p(4, design, n_pairs=10) > 0.05
        rng = np.random.default_rng(3)
        for _ in range(20):
            games = draw_games(
                rng,
                k=5,
                win_rate=0.85,
                tie_rate=0.7,
                shape=(4, 6, 4),
                correlations=(0.05, 0.05),
                shares_annotators=True,
            )
            assert all(known(test.p_adjusted) >= 0.05 for test in pair_tests(games) if test.p_adjusted is not None)


class TestPlanAnnotators:
    def test_reaches_the_power_in_simulated_studies(self):
        plan = plan_annotators(0.7, 80)
        found = _found(0.7, Design(), 80, known(plan.annotators))
        assert found == pytest.approx(0.8, abs=0.02 + 2 * 0.013)

    @pytest.mark.parametrize(("win_rate", "conversations"), [(0.75, 80), (0.7, 100), (0.9, 30)])
    def test_returns_the_fewest_annotators(self, win_rate, conversations):
        plan = plan_annotators(win_rate, conversations)
        powers = {n: power_of(win_rate, conversations, Design(annotators=n)) for n in range(2, 100)}
        assert plan.annotators == min(n for n, power in powers.items() if power >= 0.8)
        assert plan.conversations == conversations

    def test_takes_a_power_that_is_reached_exactly(self):
        power = power_of(0.7, 80, Design(annotators=31))
        assert plan_annotators(0.7, 80, power=power).annotators == 31
        assert plan_annotators(0.7, 80, power=math.nextafter(power, 1)).annotators == 32

    def test_goes_as_far_as_one_annotation_each_and_no_farther(self):
        power = power_of(0.7, 20, Design(annotators=120))
        assert plan_annotators(0.7, 20, power=power).annotators == 120
        beyond = plan_annotators(0.7, 20, power=power * 1.0001)
        assert (beyond.annotators, beyond.reason) == (
            None,
            "20 conversations are too few, whatever the number of annotators",
        )

    def test_refuses_one_conversation(self):
        with pytest.raises(SettingOutOfRange, match="conversations"):
            plan_annotators(0.7, 1)


class TestSimulatedGames:
    @pytest.mark.parametrize("correlations", [(0.1, 0.09), (0.3, 0.05)])
    def test_have_the_correlations_that_were_asked_for(self, correlations):
        games = draw_games(
            np.random.default_rng(2), k=12, win_rate=0.75, tie_rate=0.6, shape=(60, 6, 40), correlations=correlations
        )
        found = (outcome_correlation(games), outcome_correlation(games, Clusters.ANNOTATOR))
        assert found == pytest.approx(correlations, abs=0.02)
