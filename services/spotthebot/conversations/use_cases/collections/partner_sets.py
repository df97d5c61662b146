"""Partner sets: the fixed partners of bipartite-play, in the versions they had when the set was created."""

from spotthebot.contracts.conversations import PartnerSetIn
from spotthebot.conversations import store
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.domain.partner_sets import Partner, PartnerSet
from spotthebot.conversations.use_cases.collections.participants import check_names, find_bots
from spotthebot.kit.database import WriteSession


async def create_partner_set(session: WriteSession, bots: Bots, request: PartnerSetIn) -> PartnerSet:
    """Store bots, in their present versions, as the next version of a partner set."""
    found = await find_bots(bots, request.bots)
    check_names(found)
    partners = [
        Partner(bot_id=bot.id, name=bot.name, version=bot.version, configuration_sha256=bot.configuration_sha256)
        for bot in found
    ]
    return await store.partner_sets.add_partner_set(
        session, name=request.name, description=request.description, partners=partners
    )
