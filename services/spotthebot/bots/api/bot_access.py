"""Callers of endpoints that read one bot first: the bot is looked up while the caller's key is."""

from contextlib import suppress
from uuid import UUID

from fastapi import Request

from spotthebot.bots.domain.bots import Bot
from spotthebot.bots.domain.errors import NoSuchBot
from spotthebot.bots.use_cases.context import BotLookup, BotsContext
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.web.bearer.authentication import Allow

_BOT = "bot"


class AllowAtBot(Allow):
    """A dependency that lets in keys of the given roles, and finds the bot that the path names meanwhile.

    With one look-up after the other, requests that come together wait for each other twice. A caller without a key
    causes no look-up.
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
        context: BotsContext = request.app.state.context
        with suppress(ValueError):  # FastAPI refuses what is no id
            lookup = context.begin_lookup(UUID(request.path_params["bot_id"]))
            lookup.add_done_callback(_note_error)
            return lookup
        return None


def bot_of(request: Request, caller: Principal, bot_id: UUID) -> Bot:
    """Return the bot that `AllowAtBot` found, if the caller may see it; raises NoSuchBot otherwise."""
    bot: Bot | None = request.scope["state"][_BOT]
    if bot is None or not bot.is_visible_to(caller):
        raise NoSuchBot(bot_id=bot_id)
    return bot


def _note_error(lookup: BotLookup) -> None:
    """Keep asyncio from logging an error that nobody waits for, since the key was refused."""
    if not lookup.cancelled():
        lookup.exception()
