"""Corrected estimates, against the suite's own estimates, least squares and definitions that are written out."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.analytics.judges.campaigns import Campaign, Setting, draw_campaign
from spotthebot.analytics.stats.fooling_rate import fooling_rates
from spotthebot.analytics.stats.judged import checks
from spotthebot.analytics.stats.judged.columns import centred
from spotthebot.analytics.stats.judged.correction import SHRINKAGE, fit_control
from spotthebot.analytics.stats.judged.values import JudgedEstimate, JudgedValues, judged_means, judged_shares
from spotthebot.analytics.stats.rating_estimates import Ratings
from spotthebot.analytics.stats.ratings import rank_ratings
from tests.analytics.stats.judged.conftest import answers, human, values_of

_SCALE = (1.0, 5.0)


def _numbers(found: tuple[JudgedEstimate, ...]) -> list[tuple[float | None, ...]]:
    return [
        (each.corrected.estimate, each.corrected.low, each.corrected.high, each.labels_saved.estimate) for each in found
    ]


def _residuals(values: JudgedValues, bot: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the labels and the answers of one bot, minus effects of annotators and lengths, and the conversations."""
    own = (values.bot == bot) & ~np.isnan(values.value)
    dummies = [
        (values.annotator[own][:, None] == np.unique(values.annotator[own])).astype(float),
        (values.stratum[own][:, None] == np.unique(values.stratum[own])).astype(float),
    ]
    design = np.hstack(dummies)
    columns = np.column_stack([values.value[own], values.judge[own]])
    left = columns - design @ np.linalg.lstsq(design, columns, rcond=None)[0]
    return left[:, 0], left[:, 1], values.conversation[own]


class TestPeopleAlone:
    def test_are_the_fooling_rates_of_the_suite_to_the_bit(self, campaign: Campaign):
        found = judged_shares(values_of(campaign, answers(campaign)))
        assert [(each.people.estimate, each.people.low, each.people.high, each.n_people) for each in found] == [
            (each.estimate, each.low, each.high, each.n) for each in fooling_rates(campaign.table)
        ]

    @pytest.mark.parametrize("scale", [None, _SCALE])
    def test_are_the_mean_ratings_of_the_suite_to_the_bit(self, campaign: Campaign, scale: tuple[float, float] | None):
        values = values_of(campaign, answers(campaign))
        ratings = replace(values, value=1 + 3 * values.value + values.annotator % 2)
        asked = ~np.isnan(ratings.value)
        bot, item, annotator = (each[asked] for each in (values.bot, values.conversation, values.annotator))
        table = Ratings(values.bots, bot, item, annotator, ratings.value[asked], scale=scale)
        expected = {each.bot: each for each in rank_ratings(table).bots}
        for each in judged_means(ratings, scale=scale):
            own = expected[each.bot]
            assert (each.people.estimate, each.people.low, each.people.high) == (own.estimate, own.low, own.high)
            assert each.corrected.estimate != each.people.estimate or each.slope == 0


class TestLambda:
    def test_is_the_shrunken_slope_within_annotators_and_lengths(self, campaign: Campaign):
        """The slope is that of least squares with a dummy for each annotator and length, of sums by conversation."""
        values = values_of(campaign, answers(campaign))
        found = judged_shares(values)
        for bot, each in enumerate(found):
            y, f, conversation = _residuals(values, bot)
            at = np.unique(conversation, return_inverse=True)[1]
            of_y, of_f = np.bincount(at, weights=y), np.bincount(at, weights=f)
            slope = of_y @ of_f / (of_f @ of_f)
            n, annotators = len(y), len(np.unique(values.annotator[(values.bot == bot) & (values.annotator >= 0)]))
            variance = np.sum((of_f * (of_y - slope * of_f)) ** 2) / (of_f @ of_f) ** 2 * n / (n - annotators - 3)
            expected = slope * max(0.0, 1 - SHRINKAGE * variance / slope**2)
            assert each.slope == pytest.approx(expected, rel=1e-6, abs=1e-9)

    def test_moves_people_by_the_difference_of_the_judge_s_means(self, campaign: Campaign):
        values = values_of(campaign, answers(campaign))
        units = values.units()
        for bot, each in enumerate(judged_shares(values)):
            difference = 0.0
            own = (values.bot == bot) & ~np.isnan(values.value)
            for length in np.unique(values.stratum):
                labelled = own & (values.stratum == length)
                every = (units.statistic == bot) & (units.stratum == length)
                lead = values.judge[labelled].mean() - units.judge[every].mean()
                difference += lead * labelled.sum() / own.sum()
            assert each.people.estimate is not None
            assert each.corrected.estimate == pytest.approx(each.people.estimate - each.slope * difference, abs=1e-12)

    def test_is_negative_for_a_judge_that_is_always_wrong(self, campaign: Campaign):
        said = answers(campaign)
        good, wrong = (judged_shares(values_of(campaign, each)) for each in (said, 1 - said))
        assert max(each.slope for each in good) > 0
        np.testing.assert_allclose([each.slope for each in wrong], [-each.slope for each in good], atol=1e-12)
        np.testing.assert_allclose(np.array(_numbers(wrong)), np.array(_numbers(good)), atol=1e-9)

    def test_does_not_know_the_scale_of_the_judge(self, campaign: Campaign):
        said = answers(campaign)
        one, other = (judged_shares(values_of(campaign, each)) for each in (said, 0.2 + said / 2))
        np.testing.assert_allclose(np.array(_numbers(one)), np.array(_numbers(other)), atol=1e-9)

    def test_learns_nothing_from_what_annotators_share(self, campaign: Campaign):
        """An answer that tells only who labelled has no slope, however well it fits the labels."""
        values = values_of(campaign, answers(campaign))
        rows = values.labelled()
        lenient = np.bincount(rows.annotator, weights=rows.residual) / np.bincount(rows.annotator)
        known = replace(rows, judge=lenient[rows.annotator])
        control = fit_control(known, values.units(), np.arange(len(values.bots)))
        assert np.isnan(control.slope).all()
        assert not control.used.any()

    def test_is_shared_in_a_family(self, campaign: Campaign):
        values = values_of(campaign, answers(campaign))
        rows = values.labelled()
        rows = replace(rows, residual=centred(rows.residual, rows.weight, rows.statistic))
        shared = fit_control(rows, values.units(), np.zeros(4, dtype=np.int64))
        assert len(set(shared.used.tolist())) == 1
        alone = fit_control(rows, values.units(), np.arange(4)).slope
        assert alone.min() < shared.slope[0] < alone.max()


class TestVariance:
    def test_is_people_s_less_the_judge_s_part_and_never_wider(self, campaign: Campaign):
        values = values_of(campaign, answers(campaign))
        for each in judged_shares(values):
            assert None not in {each.people.low, each.people.high, each.corrected.low, each.corrected.high}
            people, corrected = (i.high - i.low for i in (each.people, each.corrected))  # type: ignore[operator]
            assert corrected <= people
            assert (each.labels_saved.estimate == 0) == (each.slope == 0)

    def test_narrows_the_interval_where_labels_are_independent(self):
        """A label with the judge is worth more than one label: Wilson's interval is not capped by their number."""
        drawn = draw_campaign(Setting(40, 0.0), np.random.default_rng(4))
        found = [each for each in judged_shares(values_of(drawn, answers(drawn))) if each.slope > 0]
        for each in found:
            assert each.people.low is not None
            assert each.people.high is not None
            assert each.corrected.low is not None
            assert each.corrected.high is not None
            assert each.labels_saved.estimate is not None
            ratio = (each.corrected.high - each.corrected.low) / (each.people.high - each.people.low)
            assert ratio == pytest.approx((1 - each.labels_saved.estimate) ** 0.5, abs=0.03)
        assert max(each.labels_saved.estimate or 0.0 for each in found) > 0.08

    def test_has_a_difference_clustered_by_conversation(self, campaign: Campaign):
        """For labelled and other units without strata: the sums of squares by conversation, written out."""
        values = replace(values_of(campaign, answers(campaign)), stratum=np.empty(0, dtype=np.int64))
        rows, units = values.labelled(), values.units()
        control = fit_control(rows, units, np.arange(4))
        for bot in range(4):
            mine, every = rows.statistic == bot, units.statistic == bot
            sums: dict[int, float] = {}
            mean, overall = rows.judge[mine].mean(), units.judge[every].mean()
            for conversation, value in zip(rows.conversation[mine].tolist(), rows.judge[mine].tolist(), strict=True):
                sums[conversation] = sums.get(conversation, 0.0) + (value - mean) / mine.sum()
            for conversation, value in zip(
                units.conversation[every].tolist(), units.judge[every].tolist(), strict=True
            ):
                sums[conversation] = sums.get(conversation, 0.0) - (value - overall) / every.sum()
            assert control.variance[bot] == pytest.approx(sum(each**2 for each in sums.values()), rel=1e-12)
            assert control.difference[bot] == pytest.approx(mean - overall, rel=1e-12)

    def test_is_people_s_where_no_unit_is_left_to_judge(self, campaign: Campaign):
        """If people labelled all units, the judge's difference is 0, up to units with two labels."""
        values = values_of(campaign, answers(campaign))
        asked = ~np.isnan(values.value)
        columns = {
            name: getattr(values, name)[asked]
            for name in ("bot", "unit", "conversation", "annotator", "value", "judge", "stratum", "probability")
        }
        for each in judged_shares(replace(values, **columns)):
            assert each.corrected.estimate is None
            assert each.reason == checks.ALL_LABELLED


class TestInclusionProbabilities:
    def test_weigh_people_and_judge_by_their_inverse(self, campaign: Campaign):
        values = values_of(campaign, answers(campaign))
        chance = np.where(values.judge > 0.4, 0.1, 0.05)
        weighted = replace(values, probability=chance)
        for bot, each in enumerate(judged_shares(weighted)):
            own = (values.bot == bot) & ~np.isnan(values.value)
            expected = np.sum(values.value[own] / chance[own]) / np.sum(1 / chance[own])
            assert each.people.estimate == pytest.approx(expected, rel=1e-12)

    def test_change_nothing_if_all_are_equal(self, campaign: Campaign):
        values = values_of(campaign, answers(campaign))
        equal = judged_shares(replace(values, probability=np.full(len(values.bot), 0.125)))
        np.testing.assert_allclose(np.array(_numbers(equal)), np.array(_numbers(judged_shares(values))), rtol=1e-9)

    def test_remove_the_bias_of_a_design_that_prefers_some_units(self):
        """Units that look human are asked for four times as often: without chances people and judge are misled."""
        rng = np.random.default_rng(8)
        n = 6000
        looks = rng.random(n)
        label = (rng.random(n) < looks).astype(float)
        chance = np.where(looks > 0.5, 0.4, 0.1)
        asked = rng.random(n) < chance
        values = JudgedValues(
            ("A",),
            np.zeros(n, dtype=np.int64),
            np.arange(n),
            np.arange(n),
            np.where(asked, rng.integers(30, size=n), -1),
            np.where(asked, label, np.nan),
            looks,
            probability=chance,
        )
        (found,), (naive,) = judged_shares(values), judged_shares(replace(values, probability=np.empty(0)))
        assert found.reason is None
        assert found.corrected.low is not None
        assert found.corrected.high is not None
        assert found.corrected.low < 0.5 < found.corrected.high
        assert naive.people.low is not None
        assert naive.people.low > 0.55
        assert naive.reason is not None
        assert "not drawn at random" in naive.reason


class TestRepeatedRuns:
    def test_do_not_depend_on_the_order_of_rows(self, campaign: Campaign):
        values = values_of(campaign, answers(campaign))
        order = np.random.default_rng(0).permutation(len(values.bot))
        columns = {
            name: getattr(values, name)[order]
            for name in ("bot", "unit", "conversation", "annotator", "value", "judge", "stratum", "probability")
        }
        shuffled = judged_shares(replace(values, **columns))
        np.testing.assert_allclose(np.array(_numbers(shuffled)), np.array(_numbers(judged_shares(values))), rtol=1e-6)

    def test_are_the_same_for_studies_at_once_and_alone(self, campaign: Campaign):
        said = answers(campaign)
        alone = judged_shares(values_of(campaign, said))
        one, leaking = values_of(campaign, said), values_of(campaign, answers(campaign, "leaking"))
        joined = JudgedValues(
            (*one.bots, *(f"{bot}2" for bot in one.bots)),
            *(
                np.concatenate([first, second + step])
                for first, second, step in (
                    (one.bot, leaking.bot, 4),
                    (one.unit, leaking.unit, one.unit.max() + 1),
                    (one.conversation, leaking.conversation, one.conversation.max() + 1),
                    (one.annotator, leaking.annotator, 0),
                    (one.value, leaking.value, 0),
                    (one.judge, leaking.judge, 0),
                    (one.stratum, leaking.stratum, 0),
                )
            ),
        )
        both = judged_shares(joined, study=np.repeat([0, 1], 4))
        np.testing.assert_allclose(np.array(_numbers(both[:4])), np.array(_numbers(alone)), rtol=1e-6)
        assert {each.slope for each in both[4:]} == {0.0}
        assert human(campaign).sum() == np.nansum(one.value)
