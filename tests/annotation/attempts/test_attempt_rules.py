"""Attempts at a training at their bounds, without a service: when each is refused, and what the refusal says."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from spotthebot.annotation.attempts.domain import Attempt, SavedAnswer, require_grantable, state_after
from spotthebot.annotation.attempts.errors import (
    AttemptNotFailed,
    NoSuchTrainingDialogue,
    TrainingAnswerFinal,
    TrainingDialogueNotShown,
)
from spotthebot.contracts.annotation.trainings import Training, TrainingState
from tests.factories.annotator_trainings import RIGHT, WRONG, training

NOW = datetime(2026, 1, 1, 12, 30, 15, 250_000, tzinfo=UTC)
TRAINING = Training.model_validate(training(allowed_mistakes=2))
STARTED = Attempt(1, TrainingState.IN_PROGRESS, NOW, None, (SavedAnswer(0, RIGHT, 0, NOW),))


class TestAttempt:
    def test_takes_the_answer_to_the_next_dialogue_and_the_same_again(self):
        assert STARTED.require_answerable(TRAINING, 1, WRONG)
        assert not STARTED.require_answerable(TRAINING, 0, RIGHT)

    def test_says_which_dialogue_is_next_and_which_is_the_last(self):
        with pytest.raises(TrainingAnswerFinal, match="Dialogue 0"):
            STARTED.require_answerable(TRAINING, 0, WRONG)
        with pytest.raises(TrainingDialogueNotShown, match=r"Dialogue 2 .* answer dialogue 1 first"):
            STARTED.require_answerable(TRAINING, 2, RIGHT)
        with pytest.raises(NoSuchTrainingDialogue, match="no dialogue 3: the training has dialogues 0 to 2"):
            STARTED.require_answerable(TRAINING, 3, RIGHT)

    @pytest.mark.parametrize(
        ("position", "mistakes", "state"),
        [(1, 9, TrainingState.IN_PROGRESS), (2, 2, TrainingState.PASSED), (2, 3, TrainingState.FAILED)],
    )
    def test_is_decided_by_the_mistakes_in_the_last_dialogue(self, position: int, mistakes: int, state: TrainingState):
        assert state_after(TRAINING, position, mistakes) is state

    def test_may_be_followed_by_another_where_it_failed_and_more_are_allowed(self):
        failed = replace(STARTED, number=2, state=TrainingState.FAILED)
        assert [(failed.may_follow(allowed), failed.is_last_failure(allowed)) for allowed in (1, 2, 3)] == [
            (False, True),
            (False, True),
            (True, False),
        ]
        assert not replace(failed, state=TrainingState.PASSED).may_follow(3)
        assert not replace(failed, state=TrainingState.PASSED).is_last_failure(2)

    def test_is_granted_after_the_last_allowed_one_failed(self):
        failed = replace(STARTED, number=2, state=TrainingState.FAILED)
        assert require_grantable(3, failed, 2)
        assert not require_grantable(2, failed, 2)
        for number, last in ((4, failed), (3, None), (3, replace(failed, state=TrainingState.PASSED))):
            with pytest.raises(AttemptNotFailed, match=f"Attempt {number} .* once attempt {number - 1} has failed"):
                require_grantable(number, last, 2)
