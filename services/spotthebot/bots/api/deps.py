"""Dependencies of the endpoints of `bots`: the caller, by role, and the context."""

from typing import Annotated

from fastapi import Depends, Request

from spotthebot.bots.use_cases.context import BotsContext
from spotthebot.contracts.access import Role
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.web.bearer.authentication import allow
from spotthebot.kit.web.database.idempotency import idempotent

_owners = allow(Role.ADMIN, Role.TEAM)
_administrators = allow(Role.ADMIN)

Owner = Annotated[Principal, Depends(idempotent(_owners))]
"""May register bots; honours `Idempotency-Key`."""
Changer = Annotated[Principal, Depends(_owners)]
"""May change bots, by requests that are safe to repeat."""
Reader = Annotated[Principal, Depends(allow(Role.ADMIN, Role.TEAM, Role.ANALYST, Role.SERVICE))]
Asker = Annotated[Principal, Depends(allow(Role.ADMIN, Role.TEAM, Role.SERVICE))]
Administrator = Annotated[Principal, Depends(_administrators)]
HostAdministrator = Annotated[Principal, Depends(idempotent(_administrators))]
"""May host models; honours `Idempotency-Key`."""


async def _context(request: Request) -> BotsContext:  # a coroutine: FastAPI calls a function in another thread
    context: BotsContext = request.app.state.context
    return context


Context = Annotated[BotsContext, Depends(_context)]
