"""The errors of collections."""

from spotthebot.kit.errors import Conflict, Invalid, NotFound


class NamesLookAlike(Invalid):
    """The bots '{name}' and '{other}' look alike in results: register one of them under another name."""


class NoSuchCollection(NotFound):
    """There is no collection {collection_id}."""


class HasEnded(Conflict):
    """The collection '{name}' is {state}: there is nothing to {verb}."""
