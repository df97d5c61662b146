"""What an administrator may do with a campaign or a collection in its present state."""

from collections.abc import Mapping
from typing import Final

from spotthebot.contracts.annotation import CampaignOut, CampaignState
from spotthebot.contracts.conversations import CollectionOut, CollectionState

_OF_CAMPAIGNS: Final[Mapping[CampaignState, tuple[str, ...]]] = {
    CampaignState.BUILDING: ("close",),
    CampaignState.DRAFT: ("open", "close"),
    CampaignState.OPEN: ("pause", "close"),
    CampaignState.PAUSED: ("open", "close"),
    CampaignState.COMPLETE: (),
    CampaignState.CLOSED: (),
    CampaignState.FAILED: (),
}
_OF_COLLECTIONS: Final[Mapping[CollectionState, tuple[str, ...]]] = {
    CollectionState.COLLECTING: ("pause", "cancel"),
    CollectionState.PAUSED: ("resume", "cancel"),
    CollectionState.COMPLETE: (),
    CollectionState.CANCELLED: (),
}
_ENDED: Final = frozenset({CampaignState.COMPLETE, CampaignState.CLOSED})
CAMPAIGN_ACTIONS: Final = ("open", "pause", "close", "release", "withdraw")
COLLECTION_ACTIONS: Final = ("pause", "resume", "cancel", "finish")
GRAVE: Final = frozenset({"close", "release", "cancel", "finish", "block"})
"""Actions that nobody can undo, or that others notice."""


def campaign_actions(campaign: CampaignOut) -> tuple[str, ...]:
    """Return what can be done with a campaign, the likeliest first."""
    if campaign.released_at is not None:
        return (*_OF_CAMPAIGNS[campaign.state], "withdraw")
    return (*_OF_CAMPAIGNS[campaign.state], *(("release",) if campaign.state in _ENDED else ()))


def collection_actions(collection: CollectionOut) -> tuple[str, ...]:
    """Return what can be done with a collection, the likeliest first; imports wait for uploads alone."""
    actions = _OF_COLLECTIONS[collection.state]
    if collection.mode == "import":
        return ()
    if collection.mode == "human_bot":
        return ("finish",) if actions else ()
    return actions
