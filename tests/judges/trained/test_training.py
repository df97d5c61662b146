import json
from dataclasses import replace
from datetime import date
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from spotthebot.contracts.annotation.annotations import AnnotatorKind
from spotthebot.contracts.turns import Turn
from spotthebot.judges.trained.card import CARD, JudgeCard
from spotthebot.judges.trained.errors import JudgeUnreadable, OutputExists, SpeakersTooFew, TrainedOnIt
from spotthebot.judges.trained.folds import shown_of
from spotthebot.judges.trained.judge import TrainedJudge
from spotthebot.judges.trained.scores import CONSTANT, LOG_LOSS, TEXT_FEATURES
from spotthebot.judges.trained.train import train_judge
from tests.factories.judge_units import SPEAKERS, units
from tests.factories.known import known

TODAY = date(2026, 11, 27)
CAMPAIGN: Any = SimpleNamespace(name="autumn", id="11111111-1111-1111-1111-111111111111")


def _train(some, out, **changed):
    return train_judge(some, out, campaign=CAMPAIGN, labels_by=AnnotatorKind.PERSON, today=TODAY, **changed)


def _edit(out, change):
    value = json.loads((out / CARD).read_text())
    change(value)
    (out / CARD).write_text(json.dumps(value))


class TestTraining:
    def test_never_trains_the_model_of_a_speaker_on_the_speakers_conversations(self, tmp_path):
        some = units(per_pair=4)
        card = _train(some, tmp_path / "judge")
        assert [each.speaker for each in card.folds] == list(SPEAKERS)
        for fold in card.folds:
            without = {unit.conversation for unit in some if fold.speaker not in unit.speakers}
            assert set(fold.conversations) == without
            assert fold.labels == sum(len(unit.labels) for unit in some if unit.conversation in without)

    def test_does_not_train_on_another_bots_copy_of_a_conversation_either(self, tmp_path):
        some = units(per_pair=4)
        ada = next(unit for unit in some if unit.speaker == "ada")
        copied = [replace(unit, turns=ada.turns) if unit.conversation == "cyd-dan-0" else unit for unit in some]
        card = _train(copied, tmp_path / "judge")
        assert "cyd-dan-0" not in card.folds[0].conversations
        assert "cyd-dan-1" in card.folds[0].conversations
        # A text that several speakers said has no model that has seen none of them.
        assert TrainedJudge(tmp_path / "judge").probabilities([(ada.turns, "A")]) == [None]

    def test_scores_beat_the_constant_where_the_text_tells_and_only_there(self, tmp_path):
        revealing = _train(units(), tmp_path / "revealing")
        losses = revealing.scores.losses
        assert losses[TEXT_FEATURES][LOG_LOSS] < losses[CONSTANT][LOG_LOSS] - 0.05
        assert revealing.scores.gains[0].is_certain
        assert revealing.findings[0].startswith("Text features beat the constant share: log loss lower by 0.")
        silent = _train(units(revealing=False), tmp_path / "silent")
        assert not silent.scores.gains[0].is_certain
        assert "do not beat the constant share for certain" in silent.findings[0]

    def test_scores_are_of_models_that_have_not_seen_the_speaker(self, tmp_path):
        # Written out from the judge's own answers: the mean log loss over the labels.
        some = units(per_pair=4)
        card = _train(some, tmp_path / "judge")
        answers = TrainedJudge(tmp_path / "judge").probabilities(shown_of(some))
        losses = [
            -np.log(known(p) if label.human else 1 - known(p))
            for unit, p in zip(some, answers, strict=True)
            for label in unit.labels
        ]
        assert card.scores.losses[TEXT_FEATURES][LOG_LOSS] == pytest.approx(np.mean(losses))
        assert card.scores.labels == len(losses)

    def test_with_the_same_units_writes_the_same_files(self, tmp_path):
        hashes = set()
        for name in ("one", "other"):
            _train(units(per_pair=3), tmp_path / name)
            hashes.add(TrainedJudge(tmp_path / name).sha256)
        assert len(hashes) == 1

    def test_says_in_the_card_what_it_was_trained_on(self, tmp_path):
        card = _train(units(per_pair=3), tmp_path / "judge")
        assert JudgeCard.read(tmp_path / "judge") == card
        readme = (tmp_path / "judge" / "README.md").read_text()
        for fact in ("# A judge trained on autumn", card.data_sha256, "| ada | 9 |", "2026-11-27"):
            assert fact in readme

    def test_says_that_simulated_labels_are_not_peoples(self, tmp_path):
        card = train_judge(
            units(per_pair=3), tmp_path / "j", campaign=CAMPAIGN, labels_by=AnnotatorKind.SIMULATED, today=TODAY
        )
        assert card.findings[-1] == "The labels are simulated: the judge predicts a written rule, not people."

    def test_needs_labels_without_each_speaker(self, tmp_path):
        two = [unit for unit in units(per_pair=3) if unit.speakers == {"ada", "bob"}]
        with pytest.raises(SpeakersTooFew, match="autumn"):
            _train(two, tmp_path / "judge")
        assert not (tmp_path / "judge").exists()

    def test_has_no_model_for_a_speaker_without_whom_all_labels_are_alike(self, tmp_path):
        some = units(per_pair=3)
        alike = [
            unit
            if "ada" in unit.speakers
            else replace(unit, labels=tuple(replace(label, human=False) for label in unit.labels))
            for unit in some
        ]
        card = _train(alike, tmp_path / "judge")
        assert card.without_model == ("ada",)
        answers = TrainedJudge(tmp_path / "judge").probabilities(shown_of(some))
        for unit, answer in zip(some, answers, strict=True):
            assert (answer is None) == (unit.speaker == "ada")

    def test_refuses_a_folder_with_files(self, tmp_path):
        (tmp_path / "kept").write_text("mine")
        with pytest.raises(OutputExists):
            _train(units(per_pair=3), tmp_path)
        assert (tmp_path / "kept").read_text() == "mine"


class TestTrainedJudge:
    def test_has_no_answer_for_a_text_that_the_training_did_not_list(self, tmp_path):
        _train(units(per_pair=3), tmp_path / "judge")
        new = (Turn(speaker="A", text="a text of nobody"), Turn(speaker="B", text="beep boop"))
        assert TrainedJudge(tmp_path / "judge").probabilities([(new, "A"), (new, "B")]) == [None, None]

    def test_answers_about_segments_without_labels(self, tmp_path):
        some = units(per_pair=4)
        half = [replace(unit, labels=()) if unit.conversation.endswith("-3") else unit for unit in some]
        _train(half, tmp_path / "judge")
        assert None not in TrainedJudge(tmp_path / "judge").probabilities(shown_of(half))

    def test_gives_the_same_answer_alone_and_among_others(self, tmp_path):
        some = units(per_pair=3)
        _train(some, tmp_path / "judge")
        judge = TrainedJudge(tmp_path / "judge")
        together = judge.probabilities(shown_of(some))
        assert [judge.probabilities([each])[0] for each in shown_of(some)] == together

    def test_refuses_to_judge_what_it_was_trained_on(self, tmp_path):
        _train(units(per_pair=3), tmp_path / "judge")
        _edit(tmp_path / "judge", lambda card: card["folds"][0]["conversations"].append("ada-bob-0"))
        with pytest.raises(TrainedOnIt, match="ada-bob-0"):
            TrainedJudge(tmp_path / "judge")

    @pytest.mark.parametrize(
        "change",
        [
            lambda card: card.pop("folds"),
            lambda card: card.update(extra=1),
            lambda card: card["folds"].clear(),
            lambda card: card.update(units=[]),
            lambda card: card.update(scores=None),
        ],
    )
    def test_refuses_a_damaged_card(self, tmp_path, change):
        _train(units(per_pair=3), tmp_path / "judge")
        _edit(tmp_path / "judge", change)
        with pytest.raises(JudgeUnreadable):
            TrainedJudge(tmp_path / "judge")

    @pytest.mark.parametrize("damage", ["", "{", "[]", "{}"])
    def test_refuses_a_damaged_model(self, tmp_path, damage):
        some = units(per_pair=3)
        _train(some, tmp_path / "judge")
        (tmp_path / "judge" / "fold-0" / "text_features.json").write_text(damage)
        with pytest.raises(JudgeUnreadable, match="fold-0"):
            TrainedJudge(tmp_path / "judge").probabilities(shown_of(some))

    def test_refuses_a_missing_folder(self, tmp_path):
        with pytest.raises(JudgeUnreadable):
            TrainedJudge(tmp_path / "nowhere")
