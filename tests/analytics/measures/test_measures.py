"""Bots by measures of any protocol, worked by hand, and held against the results of Spot The Bot."""

from typing import Any
from uuid import UUID

import numpy as np
import pytest

from spotthebot.analytics.labels.domain import CodedAnnotation, LabelledCampaign
from spotthebot.analytics.labels.errors import NothingToAnalyse
from spotthebot.analytics.measures.domain.measures import all_measures, one_measure
from spotthebot.analytics.measures.errors import NoSuchMeasure, NothingToMeasure
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.results.domain.analysis import analyse
from spotthebot.analytics.values.domain.values import MeasuredCampaign, MeasuredSample
from spotthebot.contracts.analytics.measures import PublishedForm
from spotthebot.contracts.analytics.results import Analysis
from spotthebot.contracts.annotation.annotations import FEATURES
from spotthebot.contracts.annotation.measures import HEADLINE, ShownTurns
from tests.factories.lazy_imports import lazily
from tests.factories.measured_campaigns import PACKAGE, answered, measured_campaign

proportion_confint = lazily("statsmodels.stats.proportion:proportion_confint")
ttest_1samp = lazily("scipy.stats:ttest_1samp")
_CODES = {"bot": 0, "unsure": 1, "human": 2}


def _quality(a: int, b: int) -> dict[str, Any]:
    return {"quality": {"A": a, "B": b}}


LIKERT = measured_campaign(
    "dialogue_likert",
    {1: ("ada", "bob"), 2: ("bob", "ada"), 3: ("ada", "HU")},
    [
        answered(1, "ann", _quality(5, 2)),
        answered(1, "ben", _quality(4, 2)),
        answered(2, "ann", _quality(1, 4)),
        answered(2, "ben", _quality(3, 5)),
        answered(3, "ann", _quality(5, 5)),
        answered(3, "ben", _quality(3, 4)),
    ],
)
ANY = Parameters(filter="none")


class TestHeadline:
    def test_is_the_measure_that_the_campaign_declared(self):
        """bob is the more engaging one, ada has the higher quality."""
        ratings = [answered(1, who, _quality(5, 2) | {"engaging": {"A": 1, "B": 4}}) for who in ("ann", "ben")]
        speakers = {1: ("ada", "bob")}
        found = {
            headline: all_measures(measured_campaign("dialogue_likert", speakers, ratings, headline=headline), ANY)
            for headline in (None, "engaging")
        }
        assert {name: each.headline for name, each in found.items()} == {None: "quality", "engaging": "engaging"}
        assert {name: each.speakers[0].name for name, each in found.items()} == {None: "ada", "engaging": "bob"}
        declared = measured_campaign("dialogue_likert", speakers, ratings, headline="engaging")
        assert one_measure(declared, HEADLINE, ANY).measure == "engaging"


class TestScales:
    def test_are_means_of_all_values_with_how_often_each_was_given(self):
        """ada: 5, 4, 4, 5, 5, 3 = 26 / 6; bob: 2, 2, 1, 3 = 8 / 4; people: 5, 4 = 4.5."""
        found = one_measure(LIKERT, "quality", ANY)
        assert {each.bot: (each.estimate, each.n) for each in found.bots} == {
            "ada": (pytest.approx(26 / 6), 6),
            "bob": (2.0, 4),
            "HU": (4.5, 2),
        }
        assert [(each.value, each.n) for each in found.bots[0].values] == [(3, 1), (4, 2), (5, 3)]
        assert found.n == 12

    def test_are_bounded_by_the_ends_of_the_scale(self):
        found = one_measure(LIKERT, "quality", ANY)
        assert (found.lowest, found.highest) == (1, 5)
        for bot in found.bots:
            assert bot.low is None or 1 <= bot.low <= (bot.estimate or 0)
            assert bot.high is None or (bot.estimate or 0) <= bot.high <= 5

    def test_give_people_no_rank(self):
        found = {each.bot: each for each in one_measure(LIKERT, "quality", ANY).bots}
        assert (found["HU"].rank_low, found["HU"].rank_high, found["HU"].cluster) == (None, None, None)
        assert found["ada"].rank_low == 1

    def test_compare_pairs_of_bots_by_their_means(self):
        (pair,) = one_measure(LIKERT, "quality", ANY).pairs
        assert (pair.bot, pair.other, pair.n) == ("ada", "bob", 10)
        assert pair.estimate == pytest.approx(26 / 6 - 2)

    def test_have_an_alpha_of_what_two_annotators_say_of_the_same_side(self):
        """Six sides of two values each, ordinal: as the function itself has it from the same twelve values."""
        found = one_measure(LIKERT, "quality", ANY)
        assert found.alpha.n == 6
        assert "ordinal" in found.alpha.method
        assert found.alpha.estimate is not None

    def test_say_so_where_nobody_answered(self):
        found = {each.measure: each for each in all_measures(LIKERT, ANY).measures}
        assert (found["engaging"].n, found["engaging"].reason) == (0, "nobody answered")
        assert found["engaging"].alpha.reason == "no unit has two values"

    def test_count_conversations_of_one_text_as_one(self):
        alike = measured_campaign(
            "dialogue_likert",
            {1: ("ada", "bob"), 2: ("ada", "bob")},
            [answered(number, "ann", _quality(5, 2)) for number in (1, 2)],
            texts={1: "same", 2: "same"},
        )
        result = one_measure(alike, "quality", ANY)
        assert {each.uncertainty.conversations for each in result.bots} == {1}
        assert [each.speakers for each in result.repeated_texts] == [("ada", "bob")]

    def test_have_student_s_interval_and_the_mean_over_dialogues_as_published(self):
        """ada: 5 and 4 in the first dialogue, 4 and 5 in the second, 5 and 3 in the third; people 5 and 4."""
        found = {each.bot: each.published for each in one_measure(LIKERT, "quality", ANY).bots}
        expected = ttest_1samp([5, 4, 4, 5, 5, 3], 0).confidence_interval(0.95)
        ada = found["ada"]
        assert (ada.estimate, ada.low, ada.high) == pytest.approx((26 / 6, expected.low, expected.high))
        assert ada.mean_of_means == pytest.approx((4.5 + 4.5 + 4) / 3)
        assert (ada.n, found["HU"].n, found["HU"].mean_of_means, ada.tie, ada.loss) == (6, 2, 4.5, None, None)
        assert "Student's t" in ada.method

    def test_have_a_published_interval_at_the_requested_level(self):
        wide, narrow = (
            one_measure(LIKERT, "quality", Parameters(filter="none", confidence_level=level)).bots[0].published
            for level in (0.99, 0.5)
        )
        assert (wide.high or 0) - (wide.low or 0) > 3 * ((narrow.high or 0) - (narrow.low or 0)) > 0


class TestTurns:
    def test_are_values_of_who_spoke_them_and_vary_with_their_dialogue(self):
        """Turn 0 is shown of the opening; turns 1 and 3 are ada's: 2 and 4; turn 2 is bob's."""
        campaign = measured_campaign(
            "turn_likert",
            {1: ("ada", "bob")},
            [answered(1, "ann", {"quality": {"0": 5, "1": 2, "2": 3, "3": 4}})],
            turns={1: ShownTurns("ABA", opening=1, opening_shown=1)},
        )
        found = one_measure(campaign, "quality", ANY)
        assert {each.bot: (each.estimate, each.n) for each in found.bots} == {"ada": (3.0, 2), "bob": (3.0, 1)}
        assert {each.uncertainty.conversations for each in found.bots} == {1}
        assert found.level == "turn"

    def test_weigh_the_same_in_the_mean_of_all_and_their_dialogues_in_the_mean_of_means(self):
        """ada speaks three turns of one dialogue, 1, 1 and 4, and one of the other, 5: 11 / 4, and (2 + 5) / 2."""
        turns = {1: ShownTurns("AAA", opening=0, opening_shown=0), 2: ShownTurns("A", opening=0, opening_shown=0)}
        campaign = measured_campaign(
            "turn_likert",
            {1: ("ada", "bob"), 2: ("ada", "bob")},
            [
                answered(1, "ann", {"quality": {"0": 1, "1": 1, "2": 4}}),
                answered(2, "ann", {"quality": {"0": 5}}),
            ],
            turns=turns,
        )
        (ada,) = one_measure(campaign, "quality", ANY).bots
        assert (ada.published.estimate, ada.published.mean_of_means) == (2.75, 3.5)


def _shares(form: PublishedForm | None) -> tuple[float | None, ...]:
    """Return the number of comparisons and the shares that were won, tied and lost."""
    assert form is not None
    assert form.tie is not None
    assert form.loss is not None
    assert form.mean_of_means is None
    return form.n, form.estimate, form.tie.estimate, form.loss.estimate


def _better(side: str) -> dict[str, Any]:
    return {"quality": side}


class TestComparisons:
    def test_are_games_of_the_bots_in_which_two_dialogues_differ(self):
        """Each bot talked with a partner: ada beats bob twice, once from the right, and bob ada once."""
        campaign = measured_campaign(
            "comparative",
            {1: ("ada", "pal"), 2: ("bob", "pal"), 3: ("HU", "ada"), 4: ("HU", "bob")},
            [
                answered(1, "ann", _better("A"), right=2),
                answered(4, "ann", _better("B"), right=3),
                answered(1, "ben", _better("B"), right=2),
                answered(4, "ben", _better("tie"), right=3),
            ],
        )
        found = one_measure(campaign, "quality", ANY)
        assert {each.bot: each.estimate for each in found.bots} == {
            "ada": pytest.approx(2 / 3),
            "bob": pytest.approx(1 / 3),
        }
        ada = next(each for each in found.bots if each.bot == "ada")
        assert [(each.value, each.n) for each in ada.values] == [(0, 1), (0.5, 1), (1, 2)]
        assert found.left_out == 0
        assert _shares(ada.published) == (4, 0.5, 0.25, 0.25)
        assert [_shares(pair.published) for pair in found.pairs] == [(4, 0.5, 0.25, 0.25)]

    def test_have_wins_ties_and_losses_against_each_bot_and_all_others_as_published(self):
        """ada beats bob, ties with bob, and loses to cid twice; bob and cid never meet. Dialogue 1 is ada's."""
        campaign = measured_campaign(
            "comparative",
            {1: ("ada", "pal"), 2: ("bob", "pal"), 3: ("cid", "pal")},
            [
                answered(1, "ann", _better("A"), right=2),
                answered(1, "ben", _better("tie"), right=2),
                answered(1, "ann", _better("B"), right=3),
                answered(3, "ben", _better("A"), right=1),
            ],
        )
        found = one_measure(campaign, "quality", ANY)
        assert {each.bot: _shares(each.published) for each in found.bots} == {
            "ada": (4, 0.25, 0.25, 0.5),
            "bob": (2, 0, 0.5, 0.5),
            "cid": (2, 1, 0, 0),
        }
        assert {(each.bot, each.other): _shares(each.published) for each in found.pairs} == {
            ("ada", "bob"): (2, 0.5, 0.5, 0),
            ("ada", "cid"): (2, 0, 0, 1),
            ("bob", "cid"): (0, None, None, None),
        }
        assert {(each.bot, each.other): each.published.reason for each in found.pairs if each.published} == {
            ("ada", "bob"): None,
            ("ada", "cid"): None,
            ("bob", "cid"): "nobody compared the two",
        }
        bounds = {each.bot: (each.published.low, each.published.high) for each in found.bots}
        assert bounds["ada"] == pytest.approx(proportion_confint(1, 4, method="wilson"))

    def test_leave_out_dialogues_that_differ_in_more_than_one_bot_each(self):
        campaign = measured_campaign(
            "comparative",
            {1: ("ada", "bob"), 2: ("cid", "dot"), 3: ("ada", "pal"), 4: ("bob", "pal")},
            [answered(1, "ann", _better("A"), right=2), answered(3, "ann", _better("A"), right=4)],
        )
        found = one_measure(campaign, "quality", ANY)
        assert (found.n, found.left_out) == (1, 1)


def _labels(a: str, b: str, features: tuple[int, int, int]) -> dict[str, Any]:
    sides = {1: "A", 0: "tie", -1: "B"}
    return {"entity": {"A": a, "B": b}, **{name: sides[lead] for name, lead in zip(FEATURES, features, strict=True)}}


def _spot_the_bot() -> tuple[MeasuredCampaign, LabelledCampaign]:
    """Draw a campaign by Spot The Bot with people, repeated texts and unfinished packages, in both forms."""
    chance = np.random.default_rng(11)
    bots, labels = ("ada", "bob", "cid"), ("bot", "unsure", "human")
    speakers = {at: (*map(str, chance.choice(bots, 2, replace=False)),) for at in range(1, 31)}
    speakers |= dict.fromkeys(range(31, 34), ("HU", "HU"))
    texts = {at: f"text {at // 2}" for at in range(1, 11)}
    annotations, coded = [], []
    for at in speakers:
        for annotator in chance.choice(8, 3, replace=False):
            for exchanges in (2, 3):
                a, b = (str(chance.choice(labels)) for _ in range(2))
                leads = tuple(int(each) for each in chance.integers(-1, 2, 3))
                answer = _labels(a, b, (leads[0], leads[1], leads[2]))
                annotations.append(answered(at, f"annotator {annotator}", answer, exchanges=exchanges))
                coded.append(
                    CodedAnnotation(
                        conversation=UUID(int=at),
                        package=PACKAGE,
                        exchanges=exchanges,
                        annotator=f"annotator {annotator}",
                        labels=(_CODES[a], _CODES[b]),
                        leads=(leads[0], leads[1], leads[2]),
                        elapsed_ms=None,
                    )
                )
    pairs = {at: (names[0], names[1]) for at, names in speakers.items()}
    measured = measured_campaign("spot_the_bot", pairs, annotations, texts=texts)
    study = LabelledCampaign(
        campaign_id=measured.campaign_id,
        campaign=measured.campaign,
        domain=measured.domain,
        complete=True,
        speakers={UUID(int=at): names for at, names in pairs.items()},
        packages={PACKAGE: frozenset(UUID(int=at) for at in speakers)},
        annotations=coded,
        texts={UUID(int=at): text for at, text in texts.items()},
    )
    return measured, study


@pytest.fixture(scope="module")
def both() -> tuple[MeasuredCampaign, Analysis]:
    measured, study = _spot_the_bot()
    return measured, analyse(study, ANY)


class TestSpotTheBot:
    def test_has_its_fooling_rate_to_the_bit(self, both: tuple[MeasuredCampaign, Analysis]):
        measured, analysed = both
        expected = {each.bot: each for each in analysed.fooling_rates}
        found = {each.bot: each for each in one_measure(measured, "entity:human", ANY).bots}
        assert set(found) == set(expected) == {"ada", "bob", "cid", "HU"}
        for name, rate in expected.items():
            assert (found[name].estimate, found[name].low, found[name].high) == (rate.rate, rate.low, rate.high)
            assert found[name].uncertainty == rate.uncertainty

    def test_has_its_alpha_of_labels(self, both: tuple[MeasuredCampaign, Analysis]):
        measured, analysed = both
        expected = analysed.agreement.alpha_interval
        assert one_measure(measured, "label", ANY).alpha == expected

    @pytest.mark.parametrize("feature", FEATURES)
    def test_has_its_games_by_feature(self, both: tuple[MeasuredCampaign, Analysis], feature: str):
        measured, analysed = both
        expected = {frozenset({each.bot, each.other}): each for each in getattr(analysed.features, feature).pairs}
        for pair in one_measure(measured, feature, ANY).pairs:
            known = expected[frozenset({pair.bot, pair.other})]
            win_rate = known.win_rate if known.bot == pair.bot else 1 - known.win_rate
            assert pair.estimate == pytest.approx(win_rate)
            assert pair.p_adjusted == pytest.approx(known.p_adjusted)

    def test_has_its_speakers_in_their_order_and_with_their_marks(self, both: tuple[MeasuredCampaign, Analysis]):
        measured, analysed = both
        assert all_measures(measured, ANY).speakers == analysed.speakers

    def test_keeps_the_annotations_of_complete_packages(self, both: tuple[MeasuredCampaign, Analysis]):
        """Nobody annotated all conversations of the one package."""
        measured, _ = both
        with pytest.raises(NothingToAnalyse):
            one_measure(measured, "label", Parameters())


class TestSamples:
    def test_do_not_depend_on_the_order_of_annotations(self):
        turned = measured_campaign("dialogue_likert", {1: ("ada", "bob"), 2: ("bob", "ada")}, LIKERT.annotations[3::-1])
        straight = measured_campaign(
            "dialogue_likert", {1: ("ada", "bob"), 2: ("bob", "ada")}, list(LIKERT.annotations[:4])
        )
        assert one_measure(turned, "quality", ANY) == one_measure(straight, "quality", ANY)

    def test_leave_out_conversations_whose_speakers_are_unknown(self):
        campaign = measured_campaign("dialogue_likert", {1: ("ada", "bob")}, list(LIKERT.annotations))
        assert len(MeasuredSample.take(campaign, "none").annotations) == 2


class TestRefusals:
    def test_name_the_measures_that_there_are(self):
        with pytest.raises(NoSuchMeasure, match="there are grammatical, relevant"):
            one_measure(LIKERT, "humour", ANY)

    def test_take_headline_for_the_measure_that_ranks(self):
        assert one_measure(LIKERT, "headline", ANY).measure == "quality"

    def test_say_that_free_text_measures_nothing(self):
        silent = MeasuredCampaign(**{**vars(LIKERT), "questions": {}})
        with pytest.raises(NothingToMeasure):
            all_measures(silent, ANY)
