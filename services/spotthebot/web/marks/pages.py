"""Loads the marks of a collection's speakers: the colour and shape that each speaker has in a campaign's results.

A collection has no marks of its own, so its pages use the marks of the newest campaign that has annotations.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from spotthebot.clients import PEER_TROUBLE, PeerFailed, PeerUnavailable
from spotthebot.contracts.analytics.speakers import Speaker
from spotthebot.contracts.annotation.campaigns import CampaignOut
from spotthebot.web.clients import Services
from spotthebot.web.marks.domain import marks_of

_CAMPAIGNS: Final = 10
_PATIENCE_SECONDS: Final = 5.0
"""How long a page waits for marks: the first request for results computes them."""


@dataclass(frozen=True)
class Marks:
    """The marks of speakers by name, and the campaign that the marks come from."""

    campaign: CampaignOut | None = None
    by_name: Mapping[str, Speaker] = field(default_factory=dict)


async def campaigns_over(services: Services, collection_id: UUID) -> Sequence[CampaignOut] | None:
    """Return the newest campaigns over a collection; None if the service does not answer."""
    client = await services.annotation()
    try:
        listed = client.list_campaigns(collection_id=collection_id, order="newest_first", page_size=_CAMPAIGNS)
        return (await listed.page()).items
    except (PeerUnavailable, PeerFailed):
        return None


async def marks_over(services: Services, campaigns: Sequence[CampaignOut] | None) -> Marks:
    """Return the marks of speakers in the newest of these campaigns that has annotations.

    There are no marks if no campaign has annotations, or if its results do not arrive in time.
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
