"""Judges that can't correct anything: there is a reason, and people's own numbers or none."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.analytics.judges.campaigns import Campaign, Setting, draw_campaign
from spotthebot.analytics.stats.judged import checks
from spotthebot.analytics.stats.judged.values import JudgedValues, judged_shares
from tests.analytics.stats.judged.conftest import answers, values_of


def _is_people_s(found) -> bool:
    return all(
        (each.corrected.estimate, each.corrected.low, each.corrected.high)
        == (each.people.estimate, each.people.low, each.people.high)
        for each in found
    )


class TestJudges:
    def test_one_that_always_says_the_same_saves_nothing(self, campaign: Campaign):
        found = judged_shares(values_of(campaign, np.full((2400, 2), 0.7)))
        assert {each.reason for each in found} == {checks.CONSTANT}
        assert {(each.labels_saved.estimate, each.labels_saved.low, each.labels_saved.high) for each in found} == {
            (0.0, 0.0, 0.0)
        }
        assert _is_people_s(found)

    def test_one_that_knows_only_bots_and_lengths_saves_nothing(self, campaign: Campaign):
        said = 0.2 + 0.1 * campaign.entity + 0.05 * campaign.exchanges[:, None]
        found = judged_shares(values_of(campaign, said))
        assert {each.reason for each in found} == {checks.CONSTANT_WITHIN}
        assert {(each.labels_saved.estimate, each.slope) for each in found} == {(0.0, 0.0)}
        assert _is_people_s(found)

    def test_one_that_is_always_certain_corrects(self, campaign: Campaign):
        found = judged_shares(values_of(campaign, (answers(campaign) > 0.4).astype(float)))
        assert any(each.slope > 0 for each in found)
        assert all(each.corrected.estimate is not None for each in found)

    def test_one_that_knows_labels_by_heart_is_found_out(self):
        for seed in range(20):
            drawn = draw_campaign(Setting(12, 0.18), np.random.default_rng(seed))
            found = judged_shares(values_of(drawn, answers(drawn, "leaking", seed)))
            assert {each.reason for each in found} == {checks.UNALIKE}
            assert _is_people_s(found)

    @pytest.mark.parametrize("judge", ["good", "length", "position"])
    def test_one_that_is_honest_is_seldom_accused(self, judge: str):
        """The level is .2 %: of 60 campaigns, one accusation is expected with a probability of 11 %, two with 1 %."""
        accused = 0
        for seed in range(60):
            drawn = draw_campaign(Setting(12, 0.18), np.random.default_rng(seed))
            found = judged_shares(values_of(drawn, answers(drawn, judge, seed)))
            accused += found[0].reason == checks.UNALIKE
        assert accused <= 1

    def test_one_that_is_honest_has_scores_of_variance_one(self):
        """Also where people labelled four units of five, so that the labelled mean is nearly the mean of all."""
        rng, n, labelled = np.random.default_rng(5), 300, 240
        squares = []
        for _ in range(300):
            said, codes = rng.random(n), np.arange(n)
            asked = codes < labelled
            values = JudgedValues(
                ("A",), 0 * codes, codes, codes, np.where(asked, codes % 9, -1), np.where(asked, 1.0, np.nan), said
            )
            squares.append(checks.scores(values.labelled(), values.units(), 1)[0] ** 2)
        assert np.mean(squares) == pytest.approx(1, abs=0.25)  # its standard error is .08

    @pytest.mark.parametrize(("missing", "used"), [(0.4, True), (0.9, False)])
    def test_one_that_misses_most_units_at_random_changes_nothing(self, campaign: Campaign, missing: float, used: bool):
        said = answers(campaign)
        said[np.random.default_rng(1).random(said.shape) < missing] = np.nan
        found = judged_shares(values_of(campaign, said))
        assert all(abs((each.missing or 0) - missing) < 0.05 for each in found)
        assert sum(each.n_judged for each in found) == np.sum(~np.isnan(said))
        assert [each.judge is not None for each in found] == [used] * len(found)
        assert all((each.reason == checks.MOSTLY_MISSING) != used for each in found)
        assert used or _is_people_s(found)

    def test_one_that_misses_unlabelled_units_only_is_found_out(self, campaign: Campaign):
        said = answers(campaign)
        said[160:][np.random.default_rng(1).random((2240, 2)) < 0.5] = np.nan
        assert {each.reason for each in judged_shares(values_of(campaign, said))} == {checks.UNALIKE}

    def test_one_that_answered_labelled_units_only_gives_no_number(self, campaign: Campaign):
        said = answers(campaign)
        said[160:] = np.nan
        found = judged_shares(values_of(campaign, said))
        assert {each.reason for each in found} == {checks.NONE_UNLABELLED}
        assert {each.corrected.estimate for each in found} == {None}
        assert {each.labels_saved.reason for each in found} == {checks.NONE_UNLABELLED}

    def test_one_that_never_answered_gives_no_number(self, campaign: Campaign):
        found = judged_shares(values_of(campaign, np.full((2400, 2), np.nan)))
        assert {each.reason for each in found} == {checks.NO_ANSWERS}
        assert {(each.judge, each.n_judged, each.missing) for each in found} == {(None, 0, 1.0)}


class TestPeople:
    def test_people_who_labelled_nothing_leave_the_judge_alone(self, campaign: Campaign):
        values = values_of(campaign, answers(campaign))
        for each in judged_shares(replace(values, value=np.full(len(values.bot), np.nan))):
            assert (each.people.estimate, each.corrected.estimate, each.labels_saved.estimate) == (None, None, None)
            assert each.reason == checks.NO_LABELS
            assert each.judge is not None

    def test_people_who_left_out_one_bot_leave_it_without_a_number(self, campaign: Campaign):
        values = values_of(campaign, answers(campaign))
        found = judged_shares(replace(values, value=np.where(values.bot == 2, np.nan, values.value)))
        assert [each.reason == checks.NO_LABELS for each in found] == [False, False, True, False]

    def test_people_who_are_one_person_have_no_interval(self, campaign: Campaign):
        values = values_of(campaign, answers(campaign))
        for each in judged_shares(replace(values, annotator=np.minimum(values.annotator, 0))):
            assert each.people.estimate is not None
            assert (each.people.low, each.corrected.estimate, each.labels_saved.high) == (None, None, None)
            assert each.corrected.reason is not None
            assert "one annotator" in each.corrected.reason

    def test_people_who_are_two_have_wide_intervals(self, campaign: Campaign):
        values = values_of(campaign, answers(campaign))
        for each in judged_shares(replace(values, annotator=np.where(values.annotator < 0, -1, values.annotator % 2))):
            assert each.corrected.low is not None
            assert each.labels_saved.high is not None

    def test_people_who_labelled_once_each_tell_no_slope(self, campaign: Campaign):
        values = values_of(campaign, answers(campaign))
        found = judged_shares(replace(values, annotator=np.where(values.annotator < 0, -1, np.arange(len(values.bot)))))
        assert {each.reason for each in found} == {checks.FEW_LABELS}
        assert _is_people_s(found)

    def test_people_who_all_agree_say_nothing_of_labels_saved(self, campaign: Campaign):
        values = values_of(campaign, answers(campaign))
        for each in judged_shares(replace(values, value=np.where(np.isnan(values.value), np.nan, 1.0))):
            assert each.corrected == each.people
            assert each.labels_saved.estimate is None
            assert each.labels_saved.reason is not None
