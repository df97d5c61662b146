"""The errors of collections whose conversations a campaign takes, or whose chats a study takes.

Invalid
├── UnknownCollection
├── CollectionsNotMixed
├── CollectionWithoutChats
└── ConversationsNamedAlike
Conflict
├── CollectionNotComplete
└── CollectionCancelled
"""

from spotthebot.kit.errors import Conflict, Invalid


class UnknownCollection(Invalid):
    """There is no collection {collection_id}."""


class CollectionsNotMixed(Invalid):
    """These collections can't be mixed in one campaign: {reason}."""


class CollectionWithoutChats(Invalid):
    """The collection '{name}' of mode '{mode}' has no chats: name one of mode 'human_bot', or its import."""


class ConversationsNamedAlike(Invalid):
    """Two conversations of these collections are called '{name}': import one of them under another `external_id`."""


class CollectionNotComplete(Conflict):
    """The collection '{name}' is {state}: {unfinished} conversations are unfinished. Try again when it is complete."""


class CollectionCancelled(Conflict):
    """The collection '{name}' was cancelled and will never be complete: a campaign needs a complete one."""
