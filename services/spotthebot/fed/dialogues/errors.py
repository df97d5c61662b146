"""The errors of dialogues that can't be scored, and of collections without dialogues to score.

Invalid
└── DialogueUnusable
NotFound
└── NoSuchCollection
Conflict
└── StillCollecting
"""

from spotthebot.kit.errors import Conflict, Invalid, NotFound


class DialogueUnusable(Invalid):
    """The dialogue can't be scored: {reason}."""

    @property
    def reason(self) -> str:
        return str(self.facts["reason"])


class NoSuchCollection(NotFound):
    """There is no collection {collection_id}."""


class StillCollecting(Conflict):
    """The collection '{collection}' is {state}: wait until it is complete, and then score it."""
