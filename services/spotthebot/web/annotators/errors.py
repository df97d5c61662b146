"""Errors of decisions about an annotator."""

from spotthebot.kit.errors import Conflict, NotFound


class NoSuchPackage(NotFound):
    """This annotator was given no such package."""

    title = "No such package"


class NoAttemptToGrant(Conflict):
    """Attempts are granted after the last one failed: this annotator has one left, has passed, or has not started."""

    title = "No attempt to grant"
