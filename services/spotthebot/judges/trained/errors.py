"""The errors of trained judges.

Invalid
├── LabelsMissing
├── SpeakersTooFew
├── ModelUnusable
├── JudgeUnreadable
└── TrainedOnIt
Conflict
├── OutputExists
└── ProtocolUnsuited
Unavailable
└── TorchIsMissing
"""

from spotthebot.kit.errors import Conflict, Invalid, Unavailable


class LabelsMissing(Invalid):
    """The campaign '{campaign}' has no labels of people, so there is nothing to learn from."""


class SpeakersTooFew(Invalid):
    """A judge needs labels without the speaker whom it judges: '{campaign}' has too few speakers, or one label."""


class ModelUnusable(Invalid):
    """The model in {folder} can't be used: {reason}."""


class JudgeUnreadable(Invalid):
    """{folder} holds no complete judge ({reason}): train it again with './stb judge train'."""


class TrainedOnIt(Invalid):
    """The judge in {folder} was trained on conversations that it would judge, as {conversation}: train it again."""


class OutputExists(Conflict):
    """The folder {out} holds files already: choose another."""


class ProtocolUnsuited(Conflict):
    """The campaign '{campaign}' asks by the protocol {protocol}: a judge can be trained on labels of speakers only."""


class TorchIsMissing(Unavailable):
    """A network needs torch and transformers, which are not installed: run './stb install models'."""
