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
    """There is no dialogue {position}: the training has dialogues 0 to {last}."""


class NoTraining(Conflict):
    """The campaign '{name}' has no training."""


class TrainingNotStarted(Conflict):
    """This annotator has not started attempt {attempt} of the training: start it first."""


class TrainingDialogueNotShown(Conflict):
    """Dialogue {position} of the training is not shown yet: answer dialogue {following} first."""


class TrainingAnswerFinal(Conflict):
    """Dialogue {position} of the training has another answer already, which is final: its feedback was shown."""


class AttemptNotFailed(Conflict):
    """Attempt {attempt} of the training can be granted only once attempt {before} has failed."""


class TrainingNotPassed(ClaimRefused):
    """This annotator has to pass the campaign's training first."""

    problem_name = "training-required"


class TrainingFailed(ClaimRefused):
    """This annotator failed the campaign's training and has no attempt left: an administrator can grant one."""
