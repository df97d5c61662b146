"""Measures of any protocol, corrected by judges."""

from typing import Any

import numpy as np
import pytest

from spotthebot.analytics.judges.domain.labels import campaign_judges
from spotthebot.analytics.judges.domain.worth import judges_of
from spotthebot.analytics.measures.domain.measures import one_measure
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.stats import Adjustment, JudgedValues, judged_means
from spotthebot.analytics.stats.judged.games import judged_preferences
from spotthebot.contracts.analytics.judges import CorrectedBot, CorrectedRanking, JudgedMeasure, JudgesOut
from spotthebot.contracts.annotation.annotations import AnnotatingJudgeOut, AnnotationOut, AnnotatorKind
from spotthebot.contracts.annotation.judges import JudgeLabels
from spotthebot.contracts.annotation.measures import ShownTurns
from spotthebot.statistics.errors import ColumnMalformed, ColumnsDiffer
from tests.factories.measured_campaigns import answered, measured_campaign

ANY = Parameters(filter="none")
POINTS = np.arange(1, 6)


def _said(annotation: AnnotationOut, answers: list[dict[str, Any]]) -> AnnotationOut:
    """Turn an annotation into one of a judge that states these answers."""
    labels = JudgeLabels.model_validate({"answers": answers})
    judge = AnnotatingJudgeOut(name="gpt", version=None)
    return annotation.model_copy(
        update={"annotator_kind": AnnotatorKind.JUDGE, "judge": judge, "judge_labels": labels, "answer": {}}
    )


def _judged(campaign: Any, annotations: list[AnnotationOut]) -> JudgesOut:
    return judges_of(campaign, None, campaign_judges(annotations, {}, campaign.campaign_id), ANY)


def _measure(found: JudgesOut, name: str) -> JudgedMeasure:
    return next(each for each in found.measures if each.measure == name)


def _ratings() -> tuple[dict[int, tuple[str, str]], list[AnnotationOut], list[AnnotationOut], JudgedValues]:
    """Draw 60 conversations of ada and bob, of which people rate 24, and the same as columns."""
    chance = np.random.default_rng(4)
    speakers = dict.fromkeys(range(1, 61), ("ada", "bob"))
    people, judge, rows = [], [], []
    for at in speakers:
        points = chance.integers(1, 6, 2).tolist()
        shares = chance.dirichlet(np.ones(5) + 6 * (np.array(points)[:, None] == POINTS).sum(axis=0), 2)
        answers = [
            {
                "question": "quality",
                "target": side,
                "probabilities": dict(zip("12345", share / share.sum(), strict=True)),
            }
            for side, share in zip("AB", shares, strict=True)
        ]
        judge.append(_said(answered(at, "gpt", {}), answers))
        who = f"ann{at % 5}"
        if at <= 24:
            people.append(answered(at, who, {"quality": dict(zip("AB", points, strict=True))}))
        for side in range(2):
            value = points[side] if at <= 24 else np.nan
            rows.append((side, 2 * at + side, at, at % 5 if at <= 24 else -1, value, shares[side] @ POINTS))
    columns = [np.array(each) for each in zip(*rows, strict=True)]
    return speakers, people, judge, JudgedValues(("ada", "bob"), *columns)


class TestRatings:
    def test_are_corrected_by_the_expected_points_of_a_judge(self):
        speakers, people, judge, values = _ratings()
        campaign = measured_campaign("dialogue_likert", speakers, people)
        found = _judged(campaign, judge)
        assert (found.ceiling, found.judges) == (None, ())
        measure = _measure(found, "quality")
        (of_judge,) = measure.judges
        assert of_judge.ranking is None
        expected = [CorrectedBot.of(each) for each in judged_means(values, scale=(1, 5))]
        for one, other in zip(of_judge.bots, expected, strict=True):
            assert one.model_dump(exclude={"people", "corrected", "labels_saved", "judge"}) == other.model_dump(
                exclude={"people", "corrected", "labels_saved", "judge"}
            )
            assert one.judge == pytest.approx(other.judge)
            for part in ("people", "corrected", "labels_saved"):
                numbers = getattr(one, part), getattr(other, part)
                assert [*numbers[0].model_dump().values()] == pytest.approx([*numbers[1].model_dump().values()])
        assert any(each.corrected.estimate != each.people.estimate for each in of_judge.bots)

    def test_give_people_alone_the_numbers_of_the_measure(self):
        speakers, people, judge, _ = _ratings()
        campaign = measured_campaign("dialogue_likert", speakers, people)
        bots = {each.bot: each for each in one_measure(campaign, "quality", ANY).bots}
        for each in _measure(_judged(campaign, judge), "quality").judges[0].bots:
            same = bots[each.bot]
            assert [each.people.estimate, each.people.low] == pytest.approx([same.estimate, same.low])

    def test_have_no_judge_that_answered_nothing_and_count_what_is_missing(self):
        speakers, people, judge, _ = _ratings()
        campaign = measured_campaign("dialogue_likert", speakers, people)
        refused = [{"question": "quality", "target": side, "missing": "refused"} for side in "AB"]
        judge[40] = _said(judge[40], refused)
        found = _judged(campaign, judge)
        assert [each.missing for each in _measure(found, "quality").judges[0].bots] == pytest.approx([1 / 60, 1 / 60])
        assert _measure(found, "engaging").judges == ()


class TestShares:
    def test_are_0_where_the_judge_did_not_ask_a_followup(self):
        """Of turn 1 the judge takes no fact for granted; of turn 3 it says false with .75."""
        answers = [
            {"question": "facts", "target": "1", "probabilities": {"yes": 0.25, "no": 0.75}},
            {"question": "facts", "target": "3", "probabilities": {"yes": 1, "no": 0}},
            {"question": "accuracy", "target": "3", "probabilities": {"true": 0.25, "false": 0.75}},
        ]
        campaign = measured_campaign(
            "factual_behaviour",
            {1: ("ada", "bob"), 2: ("ada", "bob")},
            [answered(1, "ann", {"facts": {"1": "yes", "3": "no"}, "accuracy": {"1": "false"}})],
            turns={at: ShownTurns("ABAB", 0, 0) for at in (1, 2)},
        )
        found = _judged(campaign, [_said(answered(at, "gpt", {}), answers) for at in (1, 2)])
        (bob,) = _measure(found, "accuracy:false").judges[0].bots
        assert (bob.people.estimate, bob.judge, bob.n_judged) == (0.5, 0.375, 4)


class TestPreferences:
    def test_are_corrected_as_win_rates_of_the_two_bots_that_are_compared(self):
        chance = np.random.default_rng(5)
        speakers = {at: (bot, "pal") for at, bot in enumerate(("ada", "bob", "cid") * 40, 1)}
        people, judge, rows = [], [], []
        for at in range(1, 100, 2):
            first, second = (("ada", "bob", "cid").index(speakers[each][0]) for each in (at, at + 1))
            shares = chance.dirichlet([2, 2, 1])
            side = chance.choice(3, p=shares)
            stated = dict(zip(("A", "B", "tie"), shares, strict=True))
            judge.append(
                _said(answered(at, "gpt", {}, right=at + 1), [{"question": "quality", "probabilities": stated}])
            )
            asked = at < 50
            if asked:
                people.append(answered(at, f"ann{at % 6}", {"quality": ("A", "B", "tie")[side]}, right=at + 1))
            value = (1.0, 0.0, 0.5)[side] if asked else np.nan
            rows.append((first, at, at, at % 6 if asked else -1, value, shares[0] + shares[2] / 2, second))
        *columns, other = (np.array(each) for each in zip(*rows, strict=True))
        values = JudgedValues(("ada", "bob", "cid"), *columns)
        found = _judged(measured_campaign("comparative", speakers, people), judge)
        (of_judge,) = _measure(found, "quality").judges
        expected = judged_preferences(values, other, adjustment=Adjustment(ANY.correction))
        assert of_judge.bots == ()
        assert of_judge.ranking is not None
        for one, two in zip(of_judge.ranking.pairs, CorrectedRanking.of(expected).pairs, strict=True):
            assert (one.bot, one.other, one.n_people, one.n_judged) == (two.bot, two.other, two.n_people, two.n_judged)
            assert one.corrected.estimate == pytest.approx(two.corrected.estimate)
        decided = [(b, o, v) for b, o, v in zip(values.bot, other, values.value, strict=True) if v in {0, 1}]
        pair = of_judge.ranking.pairs[0]
        games = [v if b == 0 else 1 - v for b, o, v in decided if {b, o} == {0, 1}]
        assert pair.people.estimate == pytest.approx(np.mean(games))

    @pytest.mark.parametrize("code", [-1, 2])
    def test_refuse_the_code_of_no_bot_and_columns_of_two_lengths(self, code: int):
        *_, values = _ratings()
        other = 1 - values.bot
        other[7] = code
        with pytest.raises(ColumnMalformed, match=f"other, row 7 .* is {code}, but the codes of 2 bots are"):
            judged_preferences(values, other)
        with pytest.raises(ColumnsDiffer):
            judged_preferences(values, other[1:])
