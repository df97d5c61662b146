"""The time of a request: `Now` in an endpoint's signature, read from the application's clock."""

from datetime import datetime
from typing import Annotated

from fastapi import Depends, Request

from spotthebot.kit.web.core.resources import core_of


async def get_now(request: Request) -> datetime:
    """Return the time of the application's clock. Tests replace the clock."""
    return core_of(request.app).clock()


Now = Annotated[datetime, Depends(get_now)]
