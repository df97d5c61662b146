"""Errors of changes to a collection."""

from spotthebot.kit.errors import Invalid


class NoPriority(Invalid):
    """The priority must be a whole number from -100 to 100: yours {said}."""

    title = "No priority"
