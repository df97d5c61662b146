import numpy as np
import pytest

from spotthebot.analytics.stats.judge_quality.agreement import judge_agreement
from spotthebot.analytics.stats.kappa import fleiss_kappa
from spotthebot.statistics.uncertainty import Clusters
from tests.factories.known import known
from tests.factories.scored_labels import StudySetting, draw


def _study(seed=0, **changed):
    drawn = draw(StudySetting(**changed), np.random.default_rng(seed)).labels
    return drawn.unit, drawn.conversation, drawn.annotator, drawn.human, (drawn.probability >= 0.5) * 1.0


class TestJudgeAgreement:
    def test_people_beyond_chance_is_fleiss_kappa_of_units_with_two_labels(self):
        unit, conversation, annotator, label, judge_label = _study()
        found = judge_agreement(unit, conversation, annotator, label, judge_label)
        assert found.people.beyond_chance.estimate == pytest.approx(fleiss_kappa(unit, label).estimate, abs=1e-12)

    def test_beyond_chance_with_the_judge_is_fleiss_kappa_of_each_label_with_the_judges_label(self):
        unit, conversation, annotator, label, judge_label = _study()
        row = np.tile(np.arange(len(unit)), 2)
        kappa = fleiss_kappa(row, np.concatenate([label, judge_label]))
        found = judge_agreement(unit, conversation, annotator, label, judge_label)
        assert found.judge.beyond_chance.estimate == pytest.approx(kappa.estimate, abs=1e-12)
        assert found.difference.estimate == pytest.approx(
            known(kappa.estimate) - known(found.people.beyond_chance.estimate)
        )

    def test_has_the_variance_of_leaving_out_each_conversation(self):
        # Without annotators, clusters are conversations: the jackknife over them, written out, is close.
        unit, conversation, annotator, label, judge_label = _study(conversations=15)
        found = judge_agreement(unit, conversation, annotator, label, judge_label, clusters=Clusters.CONVERSATION)
        left = []
        for each in np.unique(conversation):
            kept = conversation != each
            part = judge_agreement(*(column[kept] for column in (unit, conversation, annotator, label, judge_label)))
            left.append((part.judge.beyond_chance.estimate, part.people.beyond_chance.estimate))
        g, spread = len(left), np.array(left)
        for at, agreement in enumerate((found.judge, found.people)):
            jackknife = np.sqrt((g - 1) / g * np.sum((spread[:, at] - spread[:, at].mean()) ** 2))
            assert agreement.beyond_chance.uncertainty.standard_error == pytest.approx(jackknife, rel=0.03)

    def test_gives_each_label_of_a_person_the_same_weight(self):
        # Unit 0: h h b and the judge h: pairs hh, hb, hb, of weight 1 each (2 / (3 - 1)); unit 1: b b, of weight 2.
        found = judge_agreement([0, 0, 0, 1, 1], [0, 0, 0, 1, 1], [0, 1, 2, 0, 1], [*"hhbbb"], [*"hhhhh"])
        assert found.judge.share.estimate == pytest.approx(2 / 5)
        assert found.people.share.estimate == pytest.approx((1 + 2) / 5)
        assert (found.n, found.n_labels) == (2, 5)

    def test_leaves_out_units_with_one_person_or_without_an_answer_of_the_judge(self):
        found = judge_agreement(
            [0, 0, 1, 2, 2],
            [0, 0, 1, 2, 2],
            [0, 1, 0, 0, 1],
            [*"hhhbb"],
            np.array(["h", "h", "h", None, None], dtype=object),
        )
        assert (found.n, found.n_labels) == (1, 2)

    def test_counts_the_last_label_of_an_annotator_who_labelled_a_unit_twice(self):
        found = judge_agreement([0, 0, 0], [0, 0, 0], [0, 1, 0], [*"bhh"], [*"hhh"])
        assert found.people.share.estimate == 1.0

    @pytest.mark.parametrize(
        ("rows", "reason"),
        [
            (([], [], [], [], []), "no unit has labels of two people and a label of the judge"),
            (([0, 1], [0, 1], [0, 0], [*"hb"], [*"hb"]), "no unit has labels of two people and a label of the judge"),
            (([0, 0], [0, 0], [0, 1], [*"hh"], [*"hh"]), "all labels are the same"),
        ],
    )
    def test_says_why_there_is_no_number(self, rows, reason):
        found = judge_agreement(*rows)
        assert found.judge.beyond_chance.estimate is None
        assert found.judge.beyond_chance.reason == reason
        assert found.difference.low is None

    def test_has_no_interval_for_other_annotators_from_two_people(self):
        unit = np.repeat(np.arange(40), 2)
        label = np.random.default_rng(0).integers(0, 2, 80)
        found = judge_agreement(unit, unit, np.tile([0, 1], 40), label, np.repeat(label[::2], 2))
        assert found.judge.beyond_chance.low is None
        assert "at least 8 annotators" in known(found.judge.beyond_chance.reason)
