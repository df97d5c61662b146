"""Waits until a service has finished work that it does in the background."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from spotthebot.clients import AsyncAnnotation
from spotthebot.contracts.annotation.campaigns import CampaignOut, CampaignState
from spotthebot.kit.errors import Unavailable
from spotthebot.local.errors import JobFailed

_PAUSE_SECONDS = 0.2
_State = TypeVar("_State")


class NoProgress(Unavailable):
    """{what} made no progress for {seconds} s: the logs of the services say why."""


async def poll_until(
    fetch: Callable[[], Awaitable[_State]],
    done: Callable[[_State], bool],
    what: str,
    *,
    on_progress: Callable[[_State], None] | None = None,
    patience_seconds: float = 300,
) -> _State:
    """Fetch a state again and again until `done` accepts it; raises NoProgress if it stays the same for too long."""
    last: _State | None = None
    moved = time.monotonic()
    while True:
        found = await fetch()
        if on_progress is not None:
            on_progress(found)
        if done(found):
            return found
        if found != last:
            last, moved = found, time.monotonic()
        if time.monotonic() - moved > patience_seconds:
            raise NoProgress(what=what, seconds=patience_seconds)
        await asyncio.sleep(_PAUSE_SECONDS)


async def wait_until_built(annotation: AsyncAnnotation, campaign: CampaignOut) -> CampaignOut:
    """Wait until a campaign's packages are made; raises JobFailed if none can be made."""
    built = await poll_until(
        lambda: annotation.get_campaign(campaign.id),
        lambda found: found.state is not CampaignState.BUILDING,
        "Building packages",
    )
    if built.failure:
        raise JobFailed(what="The campaign", reason=built.failure)
    return built
