"""The errors of hosted models and their files.

NotFound
└── NoSuchHostedModel
Conflict
├── ModelFilesChanged
├── HostedModelNameTaken
└── HostedModelChanging
"""

from spotthebot.kit.errors import Conflict, NotFound


class NoSuchHostedModel(NotFound):
    """There is no hosted model '{name}'."""


class ModelFilesChanged(Conflict):
    """The files of the model '{model}' have changed since bot {bot_id} was registered: add a version to the bot."""


class HostedModelNameTaken(Conflict):
    """A model named '{name}' is hosted already: choose another name, or delete it first."""


class HostedModelChanging(Conflict):
    """Another request is changing the model '{name}': try again in {retry_after_seconds} s."""
