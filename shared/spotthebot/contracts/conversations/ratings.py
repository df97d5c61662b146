"""Revisions of the ratings that people give in chats."""

from spotthebot.contracts.wire import Wire


class RatingsRevisionOut(Wire):
    """A revision of a collection's ratings. Equal revisions mean equal ratings, by the same people."""

    ratings: int
    revision: str
