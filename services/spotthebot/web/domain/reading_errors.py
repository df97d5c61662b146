"""What readers of conversations and administrators ask for in vain."""

from spotthebot.kit.errors import Conflict, Invalid, NotFound


class NotInThisCollection(NotFound):
    """There is no such conversation in this collection."""

    title = "No such conversation"


class NoSuchAction(NotFound):
    """There is nothing of this name to be done."""

    title = "No such action"


class NoSuchPackage(NotFound):
    """This annotator was given no such package."""

    title = "No such package"


class NoAttemptToGrant(Conflict):
    """An attempt is granted after the last one failed: this annotator has one left, has passed, or has not begun."""

    title = "No attempt to grant"


class NoPriority(Invalid):
    """A priority is a whole number from -100 to 100: what was typed {said}."""

    title = "No priority"
