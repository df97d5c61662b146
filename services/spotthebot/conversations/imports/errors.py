"""What can go wrong with imports."""

from spotthebot.kit.errors import Conflict


class NotAnImport(Conflict):
    """The collection '{name}' holds its own conversations: only one with mode 'import' takes uploads."""


class HeldOtherwise(Conflict):
    """The collection '{name}' holds conversations of mode {held_as} since a moment ago: upload to another one."""
