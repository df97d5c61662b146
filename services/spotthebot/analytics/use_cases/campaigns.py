"""Campaigns by what people call them."""

from uuid import UUID

from spotthebot.analytics.clients.campaigns import Campaigns
from spotthebot.analytics.domain.errors import NoCampaignOfName, SeveralCampaignsOfName
from spotthebot.contracts.annotation.campaigns import CampaignState
from spotthebot.kit.text.names import suggestion

_MAX_CANDIDATES = 10


async def resolve_campaign(campaigns: Campaigns, id_or_name: str) -> UUID:
    """Return the id that a text is, or the id of the campaign of that name; one that failed gives way to others.

    Raises NoCampaignOfName and SeveralCampaignsOfName. Whether there is a campaign with an id is not asked.
    """
    try:
        return UUID(id_or_name)
    except ValueError:
        named = await campaigns.list_named(id_or_name)
    found = [each for each in named if each.state is not CampaignState.FAILED] or named
    if not found:
        raise NoCampaignOfName(name=id_or_name, suggestion=suggestion(id_or_name, await campaigns.list_names()))
    if len(found) > 1:
        shown = [f"{each.id} ({each.state}, of {each.created_at:%Y-%m-%d})" for each in found[:_MAX_CANDIDATES]]
        more = len(found) - len(shown)
        candidates = ", ".join(shown) + (f" and {more} more" if more else "")
        raise SeveralCampaignsOfName(count=len(found), name=id_or_name, candidates=candidates)
    return found[0].id
