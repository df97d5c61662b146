"""What the endpoints of `bots` are given: who asks, and the workshop."""

from typing import Annotated

from fastapi import Depends, Request

from spotthebot.bots.use_cases.workshop import Workshop
from spotthebot.contracts.access import Role
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.web.bearer.authentication import allow
from spotthebot.kit.web.database.idempotency import idempotent

_owners = allow(Role.ADMIN, Role.TEAM)
_administrators = allow(Role.ADMIN)

Owner = Annotated[Principal, Depends(idempotent(_owners))]
"""Who may register bots; honours `Idempotency-Key`."""
Changer = Annotated[Principal, Depends(_owners)]
"""Who may change bots, by requests that can be repeated as they are."""
Reader = Annotated[Principal, Depends(allow(Role.ADMIN, Role.TEAM, Role.ANALYST, Role.SERVICE))]
Asker = Annotated[Principal, Depends(allow(Role.ADMIN, Role.TEAM, Role.SERVICE))]
Administrator = Annotated[Principal, Depends(_administrators)]
HostAdministrator = Annotated[Principal, Depends(idempotent(_administrators))]
"""Who may host models; honours `Idempotency-Key`."""


async def _workshop(request: Request) -> Workshop:  # a coroutine: FastAPI calls a function in another thread
    workshop: Workshop = request.app.state.workshop
    return workshop


Tools = Annotated[Workshop, Depends(_workshop)]
