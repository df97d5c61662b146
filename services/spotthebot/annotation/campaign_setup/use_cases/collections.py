"""The collections of a campaign: check them, and fetch the conversations that the campaign takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from spotthebot.annotation.campaigns.domain import Campaign, unit_of
from spotthebot.annotation.clients import Conversations
from spotthebot.annotation.conversations.domain import Mix, ShownConversation, mixed
from spotthebot.annotation.packages.domain.shuffle import Shuffle
from spotthebot.annotation.protocols.domain.questions import Unit
from spotthebot.annotation.protocols.use_cases import require_protocol
from spotthebot.contracts.annotation.campaigns import CampaignIn
from spotthebot.kit.database.sessions import Database


@dataclass(frozen=True)
class SelectedConversations:
    """The conversations that a campaign takes, with their strata, and how many it left in the collections."""

    shown: Sequence[ShownConversation]
    strata: Mapping[UUID, str]
    not_selected: int


async def check_collections(database: Database, conversations: Conversations, request: CampaignIn) -> None:
    """Check that collections are complete, and can be mixed where packages are made of them.

    No session is open while `conversations` is asked. Raises UnknownCollection, CollectionCancelled,
    CollectionNotComplete, UnknownProtocol and CollectionsNotMixed.
    """
    for collection_id in request.collection_ids:
        await conversations.require_complete(collection_id)
    if request.mode == "live":
        async with database.read() as session:
            protocol = await require_protocol(session, request.protocol, request.protocol_version)
        mix = mix_of(request.collection_ids, unit_of(protocol, request.segments), request.human_share)
        if not mix.selects_all:
            await conversations.count_mix(mix)


async def select_conversations(
    conversations: Conversations, campaign: Campaign, unit: Unit, secret: bytes
) -> SelectedConversations:
    """Fetch the conversations of a campaign's mix, in order.

    Raises CollectionsNotMixed and ConversationsNamedAlike.
    """
    seed = Shuffle(secret, campaign.seed).number("human dialogues", 2**31)
    found = [[each async for each in conversations.shown(each_id)] for each_id in campaign.collections]
    strata = await conversations.strata(mix_of(campaign.collections, unit, campaign.human_share, seed=seed))
    shown = mixed([[each for each in collection if each.conversation_id in strata] for collection in found])
    return SelectedConversations(shown, strata, not_selected=sum(map(len, found)) - len(shown))


async def fetch_all(conversations: Conversations, campaign: Campaign) -> list[ShownConversation]:
    """Fetch all conversations of a campaign's collections, in order; raises ConversationsNamedAlike."""
    return mixed([[each async for each in conversations.shown(each_id)] for each_id in campaign.collections])


def mix_of(collections: tuple[UUID, ...], unit: Unit, human_share: float | None, *, seed: int = 0) -> Mix:
    """Return what a campaign takes from its collections: conversations that are long enough for its longest segment."""
    return Mix(collections, exchanges=max(unit.lengths, default=1), human_share=human_share, seed=seed)
