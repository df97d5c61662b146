"""What readers of conversations and administrators ask for in vain."""

from spotthebot.kit.errors import Invalid, NotFound


class NotInThisCollection(NotFound):
    """There is no such conversation in this collection."""

    title = "No such conversation"


class NoSuchAction(NotFound):
    """There is nothing of this name to be done."""

    title = "No such action"


class ReasonNeeded(Invalid):
    """Say why: the reason is kept with the decision, and who was blocked may answer it."""

    title = "Reason needed"
