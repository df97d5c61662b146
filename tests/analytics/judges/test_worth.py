"""The worth of judges, computed from a table of people's labels and the answers of judges."""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from spotthebot.analytics.judges.domain.labels import CampaignJudge, JudgeSides, campaign_judges, mean_of_repeats
from spotthebot.analytics.judges.domain.worth import judges_of
from spotthebot.analytics.labels.domain import LABEL_CODES, labelled_campaign_of
from spotthebot.analytics.labels.errors import NothingToAnalyse
from spotthebot.analytics.provenance.domain import Parameters
from spotthebot.analytics.stats import Adjustment, AnnotationTable
from spotthebot.analytics.stats.judged.games import judged_win_rates
from spotthebot.analytics.stats.judged.sides import JudgedSides
from spotthebot.analytics.stats.judged.survival import judged_survival, points_of
from spotthebot.contracts.analytics.judges import CorrectedRanking, CorrectedSurvival, JudgesOut
from spotthebot.contracts.annotation.annotations import AnnotatingJudgeOut, AnnotationOut, Label
from spotthebot.contracts.annotation.judges import (
    JudgeAnswer,
    JudgeLabels,
    JudgeVersionOut,
    MissingReason,
)
from tests.analytics.stats.annotation_tables import simulated_table
from tests.factories.known import known
from tests.factories.measured_campaigns import answered, measured_campaign

CAMPAIGN = UUID(int=7)
EVERY = Parameters(filter="none")


def _answers(table: AnnotationTable, shift: float = 0.0, missing: int = 0) -> dict[tuple[Any, int], JudgeSides]:
    """A judge that says the same of a bot everywhere, and has no answer to the first `missing` segments."""
    segments = sorted(set(zip(table.conversation.tolist(), table.exchanges.tolist(), strict=True)))
    entity = dict(zip(table.conversation.tolist(), table.entity.tolist(), strict=True))
    found = {}
    for at, (conversation, length) in enumerate(segments):
        human = [min(1.0, 0.2 + 0.2 * code + 0.01 * length + shift) for code in entity[conversation]]
        human = [math.nan] * 2 if at < missing else human
        found[conversation, length] = JudgeSides(
            (human[0], human[1]), (None, None) if at < missing else (2 * (human[0] >= 0.5), 2 * (human[1] >= 0.5))
        )
    return found


def _judge(*repeats, name="gpt", version=1, **more) -> CampaignJudge:
    return CampaignJudge(name, version, "endpoint", repeats, **more)


def _stated(**by_side) -> JudgeLabels:
    answers = tuple(
        JudgeAnswer(
            question="entity",
            target=side,
            probabilities=shares,
            missing=MissingReason.REFUSED if shares is None else None,
        )
        for side, shares in by_side.items()
    )
    return JudgeLabels(answers=answers)


def _judges(
    table: AnnotationTable,
    judges: Sequence[CampaignJudge],
    request: Parameters,
    collections: Mapping[Any, str] = MappingProxyType({}),
) -> JudgesOut:
    labels = {code: name for name, code in LABEL_CODES.items()}
    annotations = [
        answered(at, f"ann{who}", {"entity": {"A": labels[both[0]], "B": labels[both[1]]}}, exchanges=length)
        for at, who, both, length in zip(
            table.conversation.tolist(),
            table.annotator.tolist(),
            table.label.tolist(),
            table.exchanges.tolist(),
            strict=True,
        )
    ]
    speakers = {
        at: (table.names[one], table.names[other])
        for at, (one, other) in zip(table.conversation.tolist(), table.entity.tolist(), strict=True)
    }
    measured = measured_campaign("spot_the_bot_labels", speakers, annotations)
    return judges_of(measured, labelled_campaign_of(table, "c"), judges, request, collections)


class TestWorth:
    def test_compares_repeats_with_each_other_and_versions_with_the_version_before(self):
        table = simulated_table(3, per_pair=8)
        one, other, new = _answers(table), _answers(table, 0.04), _answers(table, 0.22)
        found = _judges(table, [_judge(one, other), _judge(new, version=3), _judge(one, name="x")], EVERY)
        first, second, third = found.judges
        assert (first.repeats, first.drift_from, first.drift, second.stability) == (2, None, None, None)
        assert known(first.stability).shift.estimate == pytest.approx(0.04)
        # Probabilities of repeats are their mean: .02 above the first.
        assert (second.drift_from, third.drift_from) == (1, None)
        assert known(second.drift).shift.estimate == pytest.approx(0.2)
        assert first.segments == len(one)

    def test_counts_missing_answers_and_uses_the_repeat_that_has_one(self):
        table = simulated_table(3, per_pair=8)
        full, half = _answers(table), _answers(table, missing=18)
        (alone,) = _judges(table, [_judge(half)], EVERY).judges
        assert alone.missing == pytest.approx(18 / len(full))
        assert alone.calibration.n_missing > 0
        (both,) = _judges(table, [_judge(half, full)], EVERY).judges
        assert both.missing == 0
        assert known(both.stability).n_missing == 2 * 18

    def test_refuses_a_judge_that_left_most_sides_without_an_answer(self):
        table = simulated_table(3, per_pair=8)
        n = len(_answers(table))
        found = _judges(table, [_judge(_answers(table, missing=n // 2 + 1))], EVERY)
        assert (found.judges, len(found.refused)) == ((), 1)
        assert "of its answers are missing" in found.refused[0].reason
        assert len(_judges(table, [_judge(_answers(table, missing=n // 2))], EVERY).judges) == 1

    def test_is_reported_by_collection_where_there_are_several(self):
        table = simulated_table(3, per_pair=8)
        collections = {each: "even" if each % 2 == 0 else "odd" for each in table.conversation.tolist()}
        (judge,) = _judges(table, [_judge(_answers(table))], EVERY, collections).judges
        odd = np.repeat(table.conversation % 2, 2) == 1
        human = (table.label.ravel() == LABEL_CODES[Label.HUMAN]).astype(float)
        assert [(each.name, each.n) for each in judge.by_collection] == [
            ("even", int((~odd).sum())),
            ("odd", int(odd.sum())),
        ]
        for each, rows in zip(judge.by_collection, (~odd, odd), strict=True):
            assert each.people.estimate == pytest.approx(human[rows].mean())
        (alone,) = _judges(table, [_judge(_answers(table))], EVERY).judges
        assert alone.by_collection == ()

    def test_reaches_the_mean_of_labels_saved_over_the_ceiling(self):
        table = simulated_table(3, per_pair=8)
        found = _judges(table, [_judge(_answers(table))], EVERY)
        (judge,), ceiling = found.judges, known(found.ceiling)
        saved = [each.labels_saved.estimate for each in judge.bots if each.labels_saved.estimate is not None]
        expected = np.mean(saved) / known(ceiling.estimate) if saved and known(ceiling.low) > 0 else None
        assert judge.reached == (expected if expected is None else pytest.approx(expected))

    def test_corrects_win_rates_and_survival_as_asked(self):
        table = simulated_table(3, per_pair=3)
        answers = _answers(table)
        few = table.select((table.conversation + table.exchanges) % 2 == 0)  # the judge labels other lengths, too
        asked = Parameters(filter="none", confidence_level=0.8, significance_level=0.45, correction="none")
        (judge,) = _judges(few, [_judge(answers)], asked).judges
        segments = sorted(answers)
        entity = dict(zip(table.conversation.tolist(), table.entity.tolist(), strict=True))
        sides = JudgedSides(
            np.array([conversation for conversation, _ in segments]),
            np.array([entity[conversation] for conversation, _ in segments]),
            np.array([length for _, length in segments]),
            np.array([answers[each].human for each in segments]),
        )
        ranking = judged_win_rates(
            few, sides, confidence_level=0.8, significance_level=0.45, adjustment=Adjustment.NONE
        )
        assert judge.ranking == CorrectedRanking.of(ranking)
        holm = judged_win_rates(few, sides, confidence_level=0.8, significance_level=0.45)
        strict = judged_win_rates(few, sides, confidence_level=0.8, adjustment=Adjustment.NONE)
        for other in map(CorrectedRanking.of, (holm, strict)):
            assert [each.rank_high for each in judge.ranking.bots] != [each.rank_high for each in other.bots]
        for found, curve in zip(judge.survival, judged_survival(few, sides, confidence_level=0.8), strict=True):
            assert found == CorrectedSurvival.of(curve, people=points_of(curve.people))

    def test_has_no_ranks_of_bots_that_never_met(self):
        table = AnnotationTable.from_rows(
            [(at, "ABC"[at % 3], "HU", 2, ("bot", "human")[at % 2], "human", at % 4) for at in range(24)]
        )
        (judge,) = _judges(table, [_judge(_answers(table))], EVERY).judges
        assert judge.ranking.reason == "no game of A and B was decided"
        for each in (*judge.ranking.bots, *judge.ranking.pairs):
            assert (each.people.estimate, each.judge, each.corrected.estimate) == (None, None, None)
            assert None not in {each.people.reason, each.corrected.reason, each.labels_saved.reason, each.reason}
        assert {(each.rank_low, each.rank_high) for each in judge.ranking.bots} == {(None, None)}
        assert all(each.people[0].estimate is not None for each in judge.survival)

    def test_has_no_report_of_a_judge_that_is_refused(self):
        table = simulated_table(3)
        found = _judges(table, [_judge(_answers(table), refused="it was trained on it")], EVERY)
        assert found.judges == ()
        assert [(each.name, each.version, each.reason) for each in found.refused] == [
            ("gpt", 1, "it was trained on it")
        ]

    @pytest.mark.parametrize("same", [0, 1])
    def test_says_why_where_a_judge_always_says_the_same(self, same: int):
        table = simulated_table(3, per_pair=8)
        answers = {each: JudgeSides((float(same),) * 2, (2 * same,) * 2) for each in _answers(table)}
        (judge,) = _judges(table, [_judge(answers)], EVERY).judges
        rates = [each.people.estimate or 0 for each in judge.ranking.bots]
        assert rates == sorted(rates, reverse=True)
        for bot in judge.bots:
            assert bot.reason is not None
            assert bot.labels_saved.estimate in (None, 0)
        assert None not in {each.reason for each in (*judge.ranking.bots, *judge.ranking.pairs)}
        assert None not in {each.reason for each in judge.survival}
        assert all(each.labels_saved.estimate in {None, 0} for each in judge.ranking.bots)

    def test_needs_labels_of_people(self):
        empty = simulated_table(3).select(np.zeros(0, dtype=np.int64))
        with pytest.raises(NothingToAnalyse):
            _judges(empty, [], EVERY)


class TestCampaignJudges:
    def _annotation(self, labels, *, answer=None, annotator="gpt-v1", version=1) -> AnnotationOut:
        construct: Any = AnnotationOut.model_construct  # the other fields are not read
        return construct(
            conversation_id=UUID(int=1),
            exchanges=2,
            annotator=annotator,
            answer={"entity": {"A": "human"}} if answer is None else answer,
            judge=AnnotatingJudgeOut(name="gpt", version=version),
            judge_labels=labels,
        )

    def test_read_probabilities_of_the_question_who_is_human_and_leave_out_missing_answers(self):
        stated = _stated(A={"human": 0.7, "unsure": 0.1, "bot": 0.2}, B=None)
        (judge,) = campaign_judges([self._annotation(stated)], {}, CAMPAIGN)
        ((found,),) = [tuple(repeat.values()) for repeat in judge.repeats]
        assert found.human[0] == 0.7
        assert math.isnan(found.human[1])
        assert found.labels == (2, None)

    @pytest.mark.parametrize(("leaves_out", "refused"), [(True, False), (False, True)])
    def test_refuse_a_judge_that_was_trained_on_the_campaign_and_leaves_out_no_speaker(self, leaves_out, refused):
        settings = {
            "kind": "trained",
            "model": "m",
            "files_sha256": "0" * 64,
            "trained_on": [CAMPAIGN],
            "leaves_out_speakers": leaves_out,
        }
        version = JudgeVersionOut.model_validate(
            {
                "name": "gpt",
                "version": 1,
                "description": "",
                "settings": settings,
                "sha256": "0" * 64,
                "created_at": "2026-11-27T00:00:00Z",
            }
        )
        annotation = self._annotation(_stated(A={"human": 1.0}, B=None))
        (judge,) = campaign_judges([annotation], {("gpt", 1): version}, CAMPAIGN)
        assert (judge.refused is not None) == refused
        (elsewhere,) = campaign_judges([annotation], {("gpt", 1): version}, UUID(int=8))
        assert elsewhere.refused is None

    def test_take_the_labels_of_an_imported_judge_for_probabilities_of_1_and_0(self):
        imported = self._annotation(None, answer={"entity": {"A": "human", "B": "unsure"}}, version=None)
        (judge,) = campaign_judges([imported], {}, CAMPAIGN)
        assert mean_of_repeats(judge.repeats)[UUID(int=1), 2] == JudgeSides((1.0, 0.0), (2, 1))
