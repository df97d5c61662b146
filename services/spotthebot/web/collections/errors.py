"""Errors of changes to a collection."""

from spotthebot.kit.errors import Invalid


class NotChanged(Invalid):
    """The collection was not changed: {said}."""

    title = "Not changed"
