"""What can be wrong with files to import as a whole.

Conflict
└── ImportNameTaken
Invalid
├── NotAnExport
└── NothingToImport
"""

from spotthebot.kit.errors import Conflict, Invalid


class ImportNameTaken(Conflict):
    """Other data, or the same by other columns, has the name '{name}': choose another one with --name."""


class NotAnExport(Invalid):
    """{path} is no export: {reason}"""  # noqa: D400 - ends as the reason does


class NothingToImport(Invalid):
    """Nothing of {file} can be used; its first fault: {reason}."""
