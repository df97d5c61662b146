"""What a collection or a campaign can show at all: the smallest p-value that a pair of its bots can have."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from spotthebot.clients import PeerRefused, PeerUnavailable
from spotthebot.contracts.conversations.progress import met_bots
from spotthebot.local.runtime.session import Clients

if TYPE_CHECKING:
    from uuid import UUID

    from spotthebot.contracts.analytics.analyses import ReachOut


async def reach_of_campaign(
    clients: Clients, collections: "Iterable[UUID]", annotations_per_conversation: int
) -> "ReachOut | None":
    """Return what a campaign of some collections can show of the pair of bots with the fewest conversations."""
    met = met_bots([pair for each in collections async for pair in clients.conversations.list_pairs(each)])
    return await reach(
        clients,
        pairs=len(met),
        conversations=min(met.values(), default=0),
        annotations_per_conversation=annotations_per_conversation,
    )


async def reach(
    clients: Clients, *, pairs: int, conversations: int, annotations_per_conversation: int = 6
) -> "ReachOut | None":
    """Return what so many conversations of each pair can show; None for no pair, or where `analytics` does not say."""
    if pairs < 1:
        return None
    try:
        return await clients.analytics.get_reach(
            pairs=pairs, conversations=conversations, annotations_per_conversation=annotations_per_conversation
        )
    except (PeerRefused, PeerUnavailable):  # a team's key; a suite without the service
        return None
