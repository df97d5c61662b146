"""Attempts at the training of a campaign. Dialogues are answered in order; the last answer decides the outcome."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Final
from uuid import UUID

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
"""The states that may follow each state; SQL conditions are made from this table."""


def states_before(state: TrainingState) -> tuple[TrainingState, ...]:
    """Return the states from which an attempt may reach `state`."""
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
    """An attempt, numbered from 1, with its answers in the order of the dialogues."""

    number: int
    state: TrainingState
    started_at: datetime
    ended_at: datetime | None
    answers: tuple[SavedAnswer, ...]

    def is_last_failure(self, allowed: int) -> bool:
        """Return whether this attempt failed and was the last of the `allowed` attempts."""
        return self.state is TrainingState.FAILED and self.number >= allowed

    def may_follow(self, allowed: int) -> bool:
        """Return whether another attempt may be started after this attempt."""
        return self.state is TrainingState.FAILED and self.number < allowed

    def require_passed(self, allowed: int) -> None:
        """Raise TrainingFailed if no attempt is left, TrainingNotPassed if this one runs or another attempt is left."""
        if self.is_last_failure(allowed):
            raise TrainingFailed
        if self.state is not TrainingState.PASSED:
            raise TrainingNotPassed

    def require_answerable(self, training: Training, position: int, answer: Answer) -> bool:
        """Return whether an answer is new; raise an error if the dialogue can't take this answer."""
        if position >= len(training.dialogues):
            raise NoSuchTrainingDialogue(position=position, last=len(training.dialogues) - 1)
        if position > len(self.answers):
            raise TrainingDialogueNotShown(position=position, following=len(self.answers))
        if position < len(self.answers) and self.answers[position].answer != answer:
            raise TrainingAnswerFinal(position=position)
        return position == len(self.answers)


@dataclass(frozen=True)
class DialogueResult:
    """How people of a workforce did in a dialogue, in their first attempt."""

    position: int
    people: int
    within_allowed: int
    mistakes: int


@dataclass(frozen=True)
class Workforce:
    """The people who came by one frontend and one shared link, and how they did in the training."""

    frontend: str
    link: UUID | None
    people: int
    passed: int
    passed_first: int
    failed: int
    dialogues: tuple[DialogueResult, ...]

    @property
    def pass_rate(self) -> float | None:
        """The share of those who passed among those who passed or failed; None if nobody did either."""
        ended = self.passed + self.failed
        return self.passed / ended if ended else None


@dataclass(frozen=True)
class TrainingResults:
    """The results of a campaign's training, the largest workforce first."""

    training: str
    version: int
    allowed_mistakes: int
    workforces: tuple[Workforce, ...]


def require_grantable(number: int, last: Attempt | None, allowed: int) -> bool:
    """Return whether a grant of attempt `number` is new, i.e. beyond the `allowed` attempts.

    Raises AttemptNotFailed unless `number` follows the last allowed attempt, and that attempt failed.
    """
    if number <= allowed:
        return False
    if last is None or not last.is_last_failure(allowed) or number != last.number + 1:
        raise AttemptNotFailed(attempt=number, before=number - 1)
    return True


def state_after(training: Training, position: int, mistakes: int) -> TrainingState:
    """Return the state of an attempt after the answer at `position`. The last dialogue decides."""
    if position < len(training.dialogues) - 1:
        return TrainingState.IN_PROGRESS
    return TrainingState.PASSED if mistakes <= training.allowed_mistakes else TrainingState.FAILED
