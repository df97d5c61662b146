"""The errors of trainings.

Invalid
├── UnknownTraining
├── TrainingOfOtherProtocol
└── TrainingFaulty
NotFound
└── NoSuchTraining
Conflict
└── TrainingVersionStored
"""

from spotthebot.kit.errors import Conflict, Invalid, NotFound


class UnknownTraining(Invalid):
    """There is no training '{name}'{version}: GET /v1/trainings lists them."""


class TrainingOfOtherProtocol(Invalid):
    """The training '{name}' is for the protocol '{protocol}' in version {version}, which this campaign does not use."""


class TrainingFaulty(Invalid):
    """The training is not valid: see `errors`."""


class NoSuchTraining(NotFound):
    """There is no training '{name}' in version {version}."""


class TrainingVersionStored(Conflict):
    """Version {version} of '{name}' is stored with other content and can't change: upload this as the next version."""
