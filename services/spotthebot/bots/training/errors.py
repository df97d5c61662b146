"""What can go wrong when a model is trained.

Invalid
├── CorpusEmpty
├── CorpusMalformed
├── CorpusTooSmall
└── OptionOutOfRange
NotFound
└── CorpusMissing
Conflict
├── OutputExists
├── OtherTrainingBegun
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


class OutputExists(Conflict):
    """The folder {out} holds files already: choose another, or give --resume to go on with a training begun there."""


class OtherTrainingBegun(Conflict):
    """The training in {out} was begun with other {what}: give the same again, or choose another folder."""


class CheckpointDamaged(Conflict):
    """The checkpoint {path} can't be read ({reason}): remove the folder and train anew."""


class TorchIsMissing(Unavailable):
    """Training needs torch and transformers, which are not installed: run './stb install models'."""


class TrainingDiverged(Unavailable):
    """The loss is no number any more at step {step}: train anew with a lower learning rate."""


class TrainingStopped(Unavailable):
    """Stopped after step {step} of {of}: the same command with --resume goes on from there."""
