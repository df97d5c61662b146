"""The errors of a campaign's results.

NotFound
├── NoSuchCollection
└── NoSuchFigure
Conflict
├── ChatsNotRated
└── NoChats
"""

from spotthebot.kit.errors import Conflict, NotFound


class NoSuchCollection(NotFound):
    """There is no collection {collection_id}."""


class NoChats(Conflict):
    """The collection '{collection}' holds no chats of people with bots: name one that people chatted in."""


class NoSuchFigure(NotFound):
    """There is no figure '{figure}': there are {known}, as .json, .svg or .png."""


class ChatsNotRated(Conflict):
    """Nobody who chatted in the conversations of '{campaign}' rated a chat, so there is nothing to compare."""
