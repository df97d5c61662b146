"""Errors of the dashboard's parts."""

from spotthebot.kit.errors import NotFound


class NoSuchPart(NotFound):
    """The dashboard has no such part: load it again."""


class NotComputed(NotFound):
    """This was not computed yet: start it with the button on the dashboard."""
