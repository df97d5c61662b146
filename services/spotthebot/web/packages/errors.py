"""Errors of an annotator's package."""

from spotthebot.kit.errors import NotFound


class NotYourPackage(NotFound):
    """You have no such package: open the link that you were given once more."""

    title = "Not your package"
