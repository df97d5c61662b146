"""Errors of confirmations."""

from spotthebot.kit.errors import NotFound


class NoSuchAction(NotFound):
    """This page has no action of this name: go back and use its buttons."""

    title = "No such action"
