"""What the endpoints of `bots` are given: who asks, and the bots in memory."""

from typing import Annotated

from fastapi import Depends, Request

from spotthebot.bots.model import LoadedBots
from spotthebot.contracts.access import Role
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.web.authentication import allow
from spotthebot.kit.web.idempotency import idempotent

_owners = allow(Role.ADMIN, Role.TEAM)

Owner = Annotated[Principal, Depends(idempotent(_owners))]
"""Who may register bots; honours `Idempotency-Key`."""
Reader = Annotated[Principal, Depends(allow(Role.ADMIN, Role.TEAM, Role.ANALYST, Role.SERVICE))]
Asker = Annotated[Principal, Depends(allow(Role.ADMIN, Role.TEAM, Role.SERVICE))]


def _loaded_bots(request: Request) -> LoadedBots:
    loaded: LoadedBots = request.app.state.loaded_bots
    return loaded


Loaded = Annotated[LoadedBots, Depends(_loaded_bots)]
