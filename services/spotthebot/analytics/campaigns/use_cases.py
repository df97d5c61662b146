"""Finds campaigns by their names."""

from uuid import UUID

from spotthebot.analytics.campaigns.errors import NoCampaignOfName, SeveralCampaignsOfName
from spotthebot.analytics.clients.campaigns import Campaigns
from spotthebot.contracts.annotation.campaigns import CampaignState
from spotthebot.kit.text.names import suggestion

_MAX_CANDIDATES = 10


async def resolve_campaign(campaigns: Campaigns, id_or_name: str) -> UUID:
    """Return the id of a campaign, which is given by its id or by its name.

    If several campaigns have this name, failed campaigns do not count. Raises NoCampaignOfName and
    SeveralCampaignsOfName. If an id is given, it does not check that the campaign exists.
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
