"""The error of a game without sides to compare."""

from spotthebot.kit.errors import Conflict


class OneKindOnly(Conflict):
    """Points need sides of people and of bots, else one guess is always right: all {sides} annotated are {kind}."""
