"""What an administrator may do with a campaign or a collection in its present state."""

from collections.abc import Mapping
from typing import Final

from spotthebot.contracts.annotation.campaigns import CampaignOut, CampaignState
from spotthebot.contracts.conversations.collections import CollectionOut, CollectionState

_OF_CAMPAIGNS: Final[Mapping[CampaignState, tuple[str, ...]]] = {
    CampaignState.BUILDING: ("close",),
    CampaignState.DRAFT: ("open", "close", "delete"),
    CampaignState.OPEN: ("pause", "close"),
    CampaignState.PAUSED: ("open", "close"),
    CampaignState.COMPLETE: (),
    CampaignState.CLOSED: (),
    CampaignState.FAILED: ("delete",),
}
_OF_COLLECTIONS: Final[Mapping[CollectionState, tuple[str, ...]]] = {
    CollectionState.COLLECTING: ("pause", "cancel"),
    CollectionState.PAUSED: ("resume", "cancel"),
    CollectionState.COMPLETE: (),
    CollectionState.CANCELLED: (),
}
_ENDED: Final = frozenset({CampaignState.COMPLETE, CampaignState.CLOSED})
CAMPAIGN_ACTIONS: Final = ("open", "pause", "close", "delete", "release", "publish", "withdraw")
COLLECTION_ACTIONS: Final = ("pause", "resume", "cancel", "finish")
GRAVE: Final = frozenset(
    {"close", "delete", "release", "publish", "cancel", "finish", "block", "reject", "erase", "revoke"}
)
"""Actions that nobody can undo, or that others notice."""


def campaign_actions(campaign: CampaignOut) -> tuple[str, ...]:
    """Return what can be done with a campaign, the likeliest first."""
    results: tuple[str, ...] = ()
    if campaign.published_at is not None:
        results = ("withdraw",)
    elif campaign.released_at is not None:
        results = ("publish", "withdraw")
    elif campaign.state in _ENDED:
        results = ("release", "publish")
    return (*_OF_CAMPAIGNS[campaign.state], *results)


def collection_actions(collection: CollectionOut) -> tuple[str, ...]:
    """Return what can be done with a collection, the likeliest first; imports wait for uploads alone."""
    actions = _OF_COLLECTIONS[collection.state]
    if collection.mode == "import":
        return ()
    if collection.mode == "human_bot":
        return ("finish",) if actions else ()
    return actions
