"""The collections of a campaign: check them, and fetch the conversations that the campaign takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from spotthebot.annotation.campaigns.domain import Campaign, unit_of
from spotthebot.annotation.clients import Conversations
from spotthebot.annotation.conversations.domain import Mix, ShownConversation, mixed
from spotthebot.annotation.packages.domain.allocation import Candidate, require_units
from spotthebot.annotation.packages.domain.pairs import Dialogue, pair_by_person
from spotthebot.annotation.packages.domain.shuffle import Shuffle
from spotthebot.annotation.protocols.domain.questions import Unit
from spotthebot.annotation.protocols.use_cases import require_protocol
from spotthebot.contracts.annotation.campaigns import CampaignIn
from spotthebot.kit.database.sessions import Database


@dataclass(frozen=True)
class SelectedConversations:
    """The conversations of a campaign with their strata, and the number of conversations not selected."""

    shown: Sequence[ShownConversation]
    strata: Mapping[UUID, str]
    not_selected: int


async def check_collections(database: Database, conversations: Conversations, request: CampaignIn) -> None:
    """Check that collections are complete, and that they can be mixed if packages are made from them.

    A campaign with more `units_twice` than there are units, or without a pair of one person's dialogues that `pairs`
    asks for, is refused here, not when its packages are made. If every
    conversation is too short, its packages fail with that reason.

    No session is open while `conversations` is asked. Raises UnknownCollection, CollectionCancelled,
    CollectionNotComplete, UnknownProtocol, CollectionsNotMixed, NoPersonTwice and TooFewUnits.
    """
    await require_complete(conversations, request)
    if request.mode == "live":
        async with database.read() as session:
            protocol = await require_protocol(session, request.protocol, request.protocol_version)
        unit = unit_of(protocol, request.segments)
        mix = mix_of(request.collection_ids, unit, request.human_share)
        if request.pairs == "same_person" and unit.dialogues == 2:
            if candidates := await list_candidates(conversations, mix):
                dialogues = [Dialogue(each.stratum, each.exchanges) for each in candidates]
                pairs = pair_by_person(dialogues, [each.person for each in candidates], Shuffle(b"", request.seed))
                require_units(len(pairs), request.units_twice, unit)
            return
        if request.units_twice is None and mix.selects_all:
            return
        counts = await conversations.count_mix(mix)
        if counts.long_enough:
            require_units(counts.long_enough // unit.dialogues, request.units_twice, unit)


async def require_complete(conversations: Conversations, request: CampaignIn) -> None:
    """Raise UnknownCollection, CollectionCancelled or CollectionNotComplete unless all collections are complete."""
    for collection_id in request.collection_ids:
        await conversations.require_complete(collection_id)


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


async def list_candidates(conversations: Conversations, mix: Mix) -> list[Candidate]:
    """Return the conversations that a mix takes, with strata and people, as if all were as short as the mix allows.

    Raises CollectionsNotMixed.
    """
    strata = await conversations.strata(mix)
    people = (await conversations.interactors(mix.collections)).sha256
    taken = await conversations.taken(mix)
    return [Candidate(each, mix.exchanges, strata[each], people.get(each)) for each in taken]


async def fetch_all(conversations: Conversations, collections: Sequence[UUID]) -> list[ShownConversation]:
    """Fetch all conversations of a campaign's collections, in order; raises ConversationsNamedAlike."""
    return mixed([[each async for each in conversations.shown(each_id)] for each_id in collections])


def mix_of(collections: tuple[UUID, ...], unit: Unit, human_share: float | None, *, seed: int = 0) -> Mix:
    """Return the mix for a campaign: conversations long enough for the longest segment of `unit`."""
    return Mix(collections, exchanges=max(unit.lengths, default=1), human_share=human_share, seed=seed)
