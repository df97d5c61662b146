"""Dependencies of the endpoints of `bots`: the caller, by role, and the context."""

from typing import Annotated

from fastapi import Depends, Request

from spotthebot.bots.api.bot_access import AllowAtBot
from spotthebot.bots.use_cases.context import BotsContext
from spotthebot.contracts.access import Role
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.web.bearer.authentication import allow
from spotthebot.kit.web.database.claims import Claim
from spotthebot.kit.web.database.idempotency import early_claim

_ASKERS = (Role.ADMIN, Role.TEAM, Role.SERVICE)
_READERS = (*_ASKERS, Role.ANALYST)
_owners = allow(Role.ADMIN, Role.TEAM)
_administrators = allow(Role.ADMIN)

Changer = Annotated[Principal, Depends(_owners)]
"""May register and change bots."""
Registration = Annotated[Claim, Depends(early_claim(_owners))]
"""The claim of an `Idempotency-Key` for a registration, which is committed before the bot is probed."""
Reader = Annotated[Principal, Depends(allow(*_READERS))]
ReaderOfBot = Annotated[Principal, Depends(AllowAtBot(*_READERS))]
"""May read the bot that the path names, if `bot_of` returns it."""
Asker = Annotated[Principal, Depends(allow(*_ASKERS))]
AskerOfBot = Annotated[Principal, Depends(AllowAtBot(*_ASKERS))]
"""May ask the bot that the path names, if `bot_of` returns it."""
Administrator = Annotated[Principal, Depends(_administrators)]
Hosting = Annotated[Claim, Depends(early_claim(_administrators))]
"""The claim of an `Idempotency-Key` for a hosted model, which is committed before its state is found."""


async def _context(request: Request) -> BotsContext:  # a coroutine: FastAPI calls a function in another thread
    context: BotsContext = request.app.state.context
    return context


Context = Annotated[BotsContext, Depends(_context)]
