"""The errors of trainings and gold items.

Invalid
├── UnknownTraining
├── TrainingOfOtherProtocol
├── NoSuchTrainingDialogue
├── TooFewGoldDialogues
├── GoldTooShort
├── GoldInTraining
├── GoldStandsOut
├── TrainingFaulty
└── TrainingNotConvertible
NotFound
└── NoSuchTraining
Conflict
├── NoTraining
├── TrainingNotStarted
├── TrainingDialogueNotShown
├── TrainingAnswerFinal
├── AttemptNotFailed
└── TrainingVersionStored
"""

from spotthebot.kit.errors import Conflict, Invalid, NotFound


class UnknownTraining(Invalid):
    """There is no training '{name}'{version}: GET /v1/trainings lists them."""


class TrainingOfOtherProtocol(Invalid):
    """The training '{name}' is for the protocol '{protocol}' in version {version}, which this campaign does not use."""


class NoSuchTrainingDialogue(Invalid):
    """The training has dialogues 0 to {last}, and no dialogue {position}."""


class TooFewGoldDialogues(Invalid):
    """'{name}' has {found} gold dialogues: {missing} are missing for {packages} packages with {per_package} each."""


class GoldTooShort(Invalid):
    """Dialogue {number} of '{name}' has {turns} turns, and the longest segment shows {needed}: gold is shown as far."""


class GoldInTraining(Invalid):
    """Dialogue {number} of '{name}' is in the training '{training}' as well: annotators would know its answer."""


class GoldStandsOut(Invalid):
    """Dialogue {number} of '{name}' can be told from the conversations without reading: {why}."""


class TrainingFaulty(Invalid):
    """Nobody can be trained by this document: see `errors`."""


class TrainingNotConvertible(Invalid):
    """The training of ABC-Eval can't be converted: {reason}."""


class NoSuchTraining(NotFound):
    """There is no training '{name}' in version {version}."""


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


class TrainingVersionStored(Conflict):
    """Version {version} of the training '{name}' holds another document, and never changes: make this the next one."""
