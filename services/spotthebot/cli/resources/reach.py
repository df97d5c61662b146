"""The reach of a collection or a campaign: the smallest p-value that a comparison of two of its bots can have."""

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
    """Return the reach of a campaign over these collections, for the pair of bots with the fewest conversations."""
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
    """Return the reach of a design with `conversations` conversations for each pair of bots.

    None without pairs, or if `analytics` does not answer.
    """
    if pairs < 1:
        return None
    try:
        return await clients.analytics.get_reach(
            pairs=pairs, conversations=conversations, annotations_per_conversation=annotations_per_conversation
        )
    except (PeerRefused, PeerUnavailable):  # a team's key; a suite without the service
        return None
