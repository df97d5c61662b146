"""The time of a request: `Now` in an endpoint's signature, read from the application's clock."""

from datetime import datetime
from typing import Annotated

from fastapi import Depends, Request

from spotthebot.kit.waits.clock import Clock


async def get_now(request: Request) -> datetime:
    """Return the time by `app.state.clock`, which tests replace."""
    clock: Clock = request.app.state.clock
    return clock()


Now = Annotated[datetime, Depends(get_now)]
