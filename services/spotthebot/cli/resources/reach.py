"""The reach of a collection or a campaign: which differences between two of its bots it can show."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from spotthebot.clients import PeerRefused, PeerUnavailable
from spotthebot.contracts.conversations.progress import met_bots
from spotthebot.local.runtime.session import Clients

if TYPE_CHECKING:
    from uuid import UUID

    from spotthebot.contracts.analytics.analyses import ReachOut


async def reach_of_campaign(
    clients: Clients, collections: "Iterable[UUID]", *, annotations_per_conversation: int, annotators: int
) -> "ReachOut | None":
    """Return the reach of a campaign over these collections, for the pair of bots with the most conversations.

    `annotators` is the most that can take part. None if two bots of the campaign never met.
    """
    met = met_bots([pair for each in collections async for pair in clients.conversations.list_pairs(each)])
    return await reach(
        clients,
        pairs=len(met),
        conversations=max(met.values(), default=0),
        annotations_per_conversation=annotations_per_conversation,
        annotators=annotators,
    )


async def reach(
    clients: Clients,
    *,
    pairs: int,
    conversations: int,
    annotations_per_conversation: int = 6,
    annotators: int | None = None,
) -> "ReachOut | None":
    """Return the reach of a design with `conversations` conversations for each pair of bots.

    None without pairs, or if `analytics` does not answer.
    """
    if pairs < 1:
        return None
    try:
        return await clients.analytics.get_reach(
            pairs=pairs,
            conversations=conversations,
            annotations_per_conversation=annotations_per_conversation,
            annotators=annotators,
        )
    except (PeerRefused, PeerUnavailable):  # a team's key; a suite without the service
        return None
