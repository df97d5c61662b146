"""The errors of changing a hosted model.

Conflict
├── HostedModelLoaded
└── NoFilesYet
Unavailable
└── ModelLeaseLost
"""

from spotthebot.kit.errors import Conflict, Unavailable


class HostedModelLoaded(Conflict):
    """The model '{name}' is loaded: unload it before you change its files."""


class NoFilesYet(Conflict):
    """The model '{name}' has no files yet: upload them first."""


class ModelLeaseLost(Unavailable):
    """The database did not answer while the model '{name}' was being changed: repeat the change."""
