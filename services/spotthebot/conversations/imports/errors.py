"""The errors of imports."""

from spotthebot.kit.errors import Conflict


class NotAnImport(Conflict):
    """The collection '{name}' takes no uploads: upload to a collection with mode 'import'."""


class HeldOtherwise(Conflict):
    """The collection '{name}' now holds conversations of mode {held_as}: upload these to another collection."""
