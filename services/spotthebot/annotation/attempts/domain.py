"""Attempts at the training of a campaign: dialogues are answered in their order, and the last answer decides."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Final

from spotthebot.annotation.attempts.errors import (
    AttemptNotFailed,
    NoSuchTrainingDialogue,
    TrainingAnswerFinal,
    TrainingDialogueNotShown,
    TrainingFailed,
    TrainingNotPassed,
)
from spotthebot.contracts.annotation.annotations import Answer
from spotthebot.contracts.annotation.trainings import Training, TrainingState

TRANSITIONS: Final[Mapping[TrainingState, frozenset[TrainingState]]] = MappingProxyType(
    {
        TrainingState.IN_PROGRESS: frozenset({TrainingState.PASSED, TrainingState.FAILED}),
        TrainingState.PASSED: frozenset(),
        TrainingState.FAILED: frozenset(),
    }
)
"""The states that may follow each state; the conditions of the SQL come from here."""


def states_before(state: TrainingState) -> tuple[TrainingState, ...]:
    """Return the states from which an attempt may come to `state`."""
    return tuple(before for before, following in TRANSITIONS.items() if state in following)


@dataclass(frozen=True)
class SavedAnswer:
    """The final answer to a dialogue."""

    position: int
    answer: Answer
    mistakes: int
    answered_at: datetime


@dataclass(frozen=True)
class Attempt:
    """An attempt, numbered from 1, with the answers that were given, in the order of the dialogues."""

    number: int
    state: TrainingState
    started_at: datetime
    ended_at: datetime | None
    answers: tuple[SavedAnswer, ...]

    def is_last_failure(self, allowed: int) -> bool:
        """Whether this attempt failed and was the last of as many as are allowed."""
        return self.state is TrainingState.FAILED and self.number >= allowed

    def may_follow(self, allowed: int) -> bool:
        """Whether another attempt may be started after this one."""
        return self.state is TrainingState.FAILED and self.number < allowed

    def require_passed(self, allowed: int) -> None:
        """Raise TrainingFailed where no attempt is left, TrainingNotPassed where one is, or this one has not ended."""
        if self.is_last_failure(allowed):
            raise TrainingFailed
        if self.state is not TrainingState.PASSED:
            raise TrainingNotPassed

    def require_answerable(self, training: Training, position: int, answer: Answer) -> bool:
        """Say whether an answer is new; raise an error where the dialogue can't be answered so, now or ever."""
        if position >= len(training.dialogues):
            raise NoSuchTrainingDialogue(position=position, last=len(training.dialogues) - 1)
        if position > len(self.answers):
            raise TrainingDialogueNotShown(position=position, following=len(self.answers))
        if position < len(self.answers) and self.answers[position].answer != answer:
            raise TrainingAnswerFinal(position=position)
        return position == len(self.answers)


def require_grantable(number: int, last: Attempt | None, allowed: int) -> bool:
    """Say whether granting an attempt is new: it is not where `allowed` attempts include it.

    Raises AttemptNotFailed unless it follows the last allowed attempt, and that failed.
    """
    if number <= allowed:
        return False
    if last is None or not last.is_last_failure(allowed) or number != last.number + 1:
        raise AttemptNotFailed(attempt=number, before=number - 1)
    return True


def state_after(training: Training, position: int, mistakes: int) -> TrainingState:
    """Return the state of an attempt once a dialogue was answered: the last one decides."""
    if position < len(training.dialogues) - 1:
        return TrainingState.IN_PROGRESS
    return TrainingState.PASSED if mistakes <= training.allowed_mistakes else TrainingState.FAILED
