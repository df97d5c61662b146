"""Partner sets: the fixed partners of bipartite-play, in the versions they had when the set was created."""

from spotthebot.contracts.conversations import PartnerSetIn
from spotthebot.conversations import store
from spotthebot.conversations.domain.partner_sets import Partner, PartnerSet
from spotthebot.conversations.use_cases.collections.participants import Participants
from spotthebot.kit.database import WriteSession


async def create_partner_set(session: WriteSession, request: PartnerSetIn, participants: Participants) -> PartnerSet:
    """Store bots, in their present versions, as the next version of a partner set."""
    partners = [
        Partner(bot_id=bot.id, name=bot.name, version=bot.version, configuration_sha256=bot.configuration_sha256)
        for bot in participants.bots
    ]
    return await store.partner_sets.add_partner_set(
        session, name=request.name, description=request.description, partners=partners
    )
