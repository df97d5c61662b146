"""Errors of the pages of conversations."""

from spotthebot.kit.errors import NotFound


class NotInThisCollection(NotFound):
    """There is no such conversation in this collection."""

    title = "No such conversation"
