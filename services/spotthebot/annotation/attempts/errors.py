"""The errors of attempts at trainings.

Invalid
└── NoSuchTrainingDialogue
Conflict
├── NoTraining
├── TrainingNotStarted
├── TrainingDialogueNotShown
├── TrainingAnswerFinal
├── AttemptNotFailed
└── ClaimRefused
    ├── TrainingNotPassed
    └── TrainingFailed
"""

from spotthebot.annotation.campaigns.errors import ClaimRefused
from spotthebot.kit.errors import Conflict, Invalid


class NoSuchTrainingDialogue(Invalid):
    """The training has dialogues 0 to {last}, and no dialogue {position}."""


class NoTraining(Conflict):
    """The campaign '{name}' has no training."""


class TrainingNotStarted(Conflict):
    """This annotator has not started attempt {attempt} of the training."""


class TrainingDialogueNotShown(Conflict):
    """Dialogue {position} of the training is not shown yet: dialogue {following} comes first."""


class TrainingAnswerFinal(Conflict):
    """Dialogue {position} of the training was answered otherwise: the answer is final, as its feedback was given."""


class AttemptNotFailed(Conflict):
    """Attempt {attempt} of the training can't be granted: this annotator has not failed attempt {before}."""


class TrainingNotPassed(ClaimRefused):
    """This annotator has to pass the campaign's training first."""

    problem_name = "training-required"


class TrainingFailed(ClaimRefused):
    """This annotator failed the campaign's training, and has no attempt left."""
