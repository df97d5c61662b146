"""What readers of conversations and administrators ask for in vain."""

from spotthebot.kit.errors import Conflict, Invalid, NotFound


class NotInThisCollection(NotFound):
    """There is no such conversation in this collection."""

    title = "No such conversation"


class NoSuchAction(NotFound):
    """This page has no action of this name: go back and use its buttons."""

    title = "No such action"


class NoSuchPackage(NotFound):
    """This annotator was given no such package."""

    title = "No such package"


class NoAttemptToGrant(Conflict):
    """Attempts are granted after the last one failed: this annotator has one left, has passed, or has not started."""

    title = "No attempt to grant"


class NoPriority(Invalid):
    """The priority must be a whole number from -100 to 100: yours {said}."""

    title = "No priority"
