"""What marks the speakers of a collection on a page: as the newest campaign over it has them."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from spotthebot.clients import PEER_TROUBLE, PeerFailed, PeerUnavailable
from spotthebot.contracts.analytics.speakers import Speaker
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.web.clients import Services
from spotthebot.web.domain.marks import marks_of

_CAMPAIGNS: Final = 10
_PATIENCE_SECONDS: Final = 5.0
"""How long a page waits for what marks bots: results are computed at their first reading."""


@dataclass(frozen=True)
class Marks:
    """What marks speakers, by name, and the campaign whose results mark them so."""

    campaign: CampaignOut | None = None
    by_name: Mapping[str, Speaker] = field(default_factory=dict)


async def campaigns_over(services: Services, collection_id: UUID) -> Sequence[CampaignOut] | None:
    """Return the newest campaigns over a collection; None where the service does not answer."""
    client = await services.annotation()
    try:
        listed = client.list_campaigns(collection_id=collection_id, order="newest_first", page_size=_CAMPAIGNS)
        return (await listed.page()).items
    except (PeerUnavailable, PeerFailed):
        return None


async def marks_over(services: Services, campaigns: Sequence[CampaignOut] | None) -> Marks:
    """Return what marks the speakers in the newest of these campaigns that has annotations.

    None are marked where there is no such campaign, or where its results are not there in time.
    """
    newest = next((each for each in campaigns or () if each.annotations), None)
    if newest is None:
        return Marks()
    try:
        client = await services.analytics()
        async with asyncio.timeout(_PATIENCE_SECONDS):
            return Marks(newest, marks_of((await client.time(newest.id)).speakers))
    except (*PEER_TROUBLE, TimeoutError):
        return Marks()
