"""The reasons why a model can't be loaded.

LoadFailed
├── NoSuchModel
├── NoTokenizer
├── ModelFilesDamaged
├── SettingUnusable
└── UnknownModelKind
"""


class LoadFailed(Exception):
    """The model '{name}' can't be loaded: {reason}."""

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        self.reason = reason
        super().__init__(str(LoadFailed.__doc__).format(name=name, reason=reason.strip().rstrip(".")))


class NoSuchModel(LoadFailed):
    """There is no such directory, and no such name that the model hub knows."""


class NoTokenizer(LoadFailed):
    """The files of its tokenizer are missing or damaged, or it has no token that ends a text."""


class ModelFilesDamaged(LoadFailed):
    """A file is missing, cut short, unreadable, or does not fit the others."""


class SettingUnusable(LoadFailed):
    """This machine lacks the device that is asked for, or a setting has an unknown value."""


class UnknownModelKind(LoadFailed):
    """The files are of a model that does not write text, or of no known model."""
