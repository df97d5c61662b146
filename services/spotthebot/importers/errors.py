"""The errors of imported files as a whole.

Conflict
└── ImportNameTaken
Invalid
├── NotAnExport
└── NothingToImport
"""

from spotthebot.kit.errors import Conflict, Invalid


class ImportNameTaken(Conflict):
    """The name '{name}' belongs to an import of other data or other columns: choose another name with --name."""


class NotAnExport(Invalid):
    """{path} is not an export: {reason}"""  # noqa: D400 - ends as the reason does


class NothingToImport(Invalid):
    """No row of {file} can be used. The first fault: {reason}."""
