"""The error of a figure that is not known."""

from spotthebot.kit.errors import NotFound


class NoSuchFigure(NotFound):
    """There is no figure '{figure}': there are {known}, as .json, .svg or .png."""
