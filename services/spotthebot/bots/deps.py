"""Dependencies of the endpoints of `bots`: the caller, by role, and the context.

Endpoints of one bot look up the bot and the caller's key at the same time.
"""

from contextlib import suppress
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Request

from spotthebot.bots.bots.domain import Bot
from spotthebot.bots.bots.errors import NoSuchBot
from spotthebot.bots.context import BotLookup, BotsContext
from spotthebot.contracts.access import Role
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.web.bearer.authentication import Allow, allow
from spotthebot.kit.web.database.claims import Claim
from spotthebot.kit.web.database.idempotency import early_claim

_BOT = "bot"
_ASKERS = (Role.ADMIN, Role.TEAM, Role.SERVICE)
_READERS = (*_ASKERS, Role.ANALYST)
_owners = allow(Role.ADMIN, Role.TEAM)
_administrators = allow(Role.ADMIN)

Changer = Annotated[Principal, Depends(_owners)]
"""May register and change bots."""
Registration = Annotated[Claim, Depends(early_claim(_owners))]
"""The claim of an `Idempotency-Key` for a registration; it is committed before the bot is probed."""
Reader = Annotated[Principal, Depends(allow(*_READERS))]


class AllowAtBot(Allow):
    """A dependency that accepts keys of the given roles, and looks up the bot in the path at the same time.

    If the two look-ups followed each other, a request would wait for the database twice. A caller without a key causes
    no look-up of a bot.
    """

    async def identify(self, request: Request) -> Principal:
        lookup = self._begin_lookup(request)
        principal = await super().identify(request)
        if lookup is not None:
            request.scope["state"][_BOT] = await lookup
        return principal

    def _begin_lookup(self, request: Request) -> BotLookup | None:
        if "Authorization" not in request.headers:
            return None
        context = context_of(request)
        with suppress(ValueError):  # FastAPI refuses invalid ids
            lookup = context.begin_lookup(UUID(request.path_params["bot_id"]))
            lookup.add_done_callback(_note_error)
            return lookup
        return None


ReaderOfBot = Annotated[Principal, Depends(AllowAtBot(*_READERS))]
"""May read the bot that the path names, if `bot_of` returns it."""
Asker = Annotated[Principal, Depends(allow(*_ASKERS))]
AskerOfBot = Annotated[Principal, Depends(AllowAtBot(*_ASKERS))]
"""May ask the bot that the path names, if `bot_of` returns it."""
Administrator = Annotated[Principal, Depends(_administrators)]
Hosting = Annotated[Claim, Depends(early_claim(_administrators))]
"""The claim of an `Idempotency-Key` for a hosted model; it is committed before the model's state is determined."""


def context_of(request: Request) -> BotsContext:
    """Return the resources of the service."""
    context: BotsContext = request.app.state.resources
    return context


def bot_of(request: Request, caller: Principal, bot_id: UUID) -> Bot:
    """Return the bot that `AllowAtBot` found, if the caller may see it; raises NoSuchBot otherwise."""
    bot: Bot | None = request.scope["state"][_BOT]
    if bot is None or not bot.is_visible_to(caller):
        raise NoSuchBot(bot_id=bot_id)
    return bot


def _note_error(lookup: BotLookup) -> None:
    """Keep asyncio from logging an error of the look-up, since nobody awaits the look-up if the key is refused."""
    if not lookup.cancelled():
        lookup.exception()


async def _context(request: Request) -> BotsContext:  # a coroutine: FastAPI calls a function in another thread
    return context_of(request)


Context = Annotated[BotsContext, Depends(_context)]
