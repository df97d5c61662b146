"""The actions of an administrator that a campaign's current state allows."""

from collections.abc import Mapping
from typing import Final

from spotthebot.contracts.annotation.campaigns import ENDED, CampaignOut, CampaignState

_OF_CAMPAIGNS: Final[Mapping[CampaignState, tuple[str, ...]]] = {
    CampaignState.BUILDING: ("close",),
    CampaignState.DRAFT: ("open", "close", "delete"),
    CampaignState.OPEN: ("pause", "close"),
    CampaignState.PAUSED: ("open", "close"),
    CampaignState.COMPLETE: (),
    CampaignState.CLOSED: (),
    CampaignState.FAILED: ("delete",),
}
CAMPAIGN_ACTIONS: Final = ("open", "pause", "close", "delete", "release", "publish", "withdraw")


def campaign_actions(campaign: CampaignOut) -> tuple[str, ...]:
    """Return the actions that the campaign's state allows, the most likely first."""
    results: tuple[str, ...] = ()
    if campaign.published_at is not None:
        results = ("withdraw",)
    elif campaign.released_at is not None:
        results = ("publish", "withdraw")
    elif campaign.state in ENDED:
        results = ("release", "publish")
    return (*_OF_CAMPAIGNS[campaign.state], *results)
