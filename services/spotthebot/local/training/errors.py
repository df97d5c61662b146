"""The errors of training.

Invalid
├── CorpusEmpty
├── CorpusMalformed
├── CorpusTooSmall
├── OptionOutOfRange
└── StartUnusable
NotFound
└── CorpusMissing
Conflict
├── OutputExists
├── OtherTrainingStarted
└── CheckpointDamaged
Unavailable
├── TorchIsMissing
├── TrainingDiverged
└── TrainingStopped
"""

from spotthebot.kit.errors import Conflict, Invalid, NotFound, Unavailable


class CorpusMissing(NotFound):
    """There is no corpus at {path}: name a file of JSON Lines, a folder of such files, or 'sample'."""


class CorpusEmpty(Invalid):
    """The corpus {path} holds no dialogues to train on: the split 'train' is empty."""


class CorpusMalformed(Invalid):
    """{path}, line {line}: {reason}."""


class CorpusTooSmall(Invalid):
    """A model needs at least {least} examples to learn from, and this corpus has {found}."""


class OptionOutOfRange(Invalid):
    """The option {name} must be {allowed}, and {value} is not."""


class StartUnusable(Invalid):
    """A training of {model} can't start from {start}: {reason}."""


class OutputExists(Conflict):
    """The folder {out} holds files already: choose another, or add --resume to continue the training in it."""


class OtherTrainingStarted(Conflict):
    """The training in {out} was started with other {what}: give the same again, or choose another folder."""


class CheckpointDamaged(Conflict):
    """The checkpoint {path} can't be read ({reason}): remove the folder and train again."""


class TorchIsMissing(Unavailable):
    """Training needs torch and transformers, which are not installed: run './stb install models'."""


class TrainingDiverged(Unavailable):
    """The loss is not a number at step {step}: train again with a lower learning rate."""


class TrainingStopped(Unavailable):
    """Stopped after step {step} of {of}: repeat the command with --resume to continue from there."""
