"""The actions of an administrator that a collection's current state allows."""

from collections.abc import Mapping
from typing import Final

from spotthebot.contracts.conversations.collections import CollectionOut, CollectionState

_OF_COLLECTIONS: Final[Mapping[CollectionState, tuple[str, ...]]] = {
    CollectionState.COLLECTING: ("pause", "cancel"),
    CollectionState.PAUSED: ("resume", "cancel"),
    CollectionState.COMPLETE: (),
    CollectionState.CANCELLED: (),
}
COLLECTION_ACTIONS: Final = ("pause", "resume", "cancel", "finish")


def collection_actions(collection: CollectionOut) -> tuple[str, ...]:
    """Return the actions that a collection's state allows, the most likely first; none for an import."""
    actions = _OF_COLLECTIONS[collection.state]
    if collection.mode == "import":
        return ()
    if collection.mode == "human_bot":
        return ("finish",) if actions else ()
    return actions
