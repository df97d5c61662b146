"""A bot's performance, and the parts of its conversations that a reader may see."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from spotthebot.contracts.access import Role
from spotthebot.contracts.bots.registry import BotOut
from spotthebot.contracts.conversations.performance import BotPerformanceOut
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.collections import store as collections_store
from spotthebot.conversations.conversations.domain import Conversation
from spotthebot.conversations.conversations.errors import UnknownBot
from spotthebot.conversations.conversations.store import conversations as conversations_store
from spotthebot.conversations.performance import store
from spotthebot.conversations.performance.errors import BotNotNamed, NoBotOfName, NoSuchBot, SeveralBotsOfName
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.database.sessions import ReadSession
from spotthebot.kit.text.names import suggestion


@dataclass(frozen=True)
class BotRequest:
    """A reference to a bot: by its id, or by its name among the bots that the caller may see."""

    bot_id: UUID | None
    name: str | None


async def find_bot(bots: Bots, principal: Principal, request: BotRequest) -> BotOut:
    """Return the requested bot; a team may name only its own bots.

    Raises BotNotNamed, NoSuchBot, NoBotOfName and SeveralBotsOfName.
    """
    if (request.bot_id is None) == (request.name is None):
        raise BotNotNamed
    team = principal.team or "" if principal.role == Role.TEAM else None
    if request.bot_id is not None:
        return await _by_id(bots, request.bot_id, team)
    return await _by_name(bots, request.name or "", team)


async def list_conversations_of_bot(
    session: ReadSession, principal: Principal, bot: BotOut, *, after: UUID | None, limit: int
) -> list[tuple[Conversation, str]]:
    """Return a bot's conversations, each with its collection's name; a team gets no name or id of other bots."""
    found = await conversations_store.list_conversations_of_bot(session, bot.id, after=after, limit=limit)
    if principal.role == Role.TEAM:
        found = [each.seen_by(bot.id) for each in found]
    names = await collections_store.get_names(session, {each.collection_id for each in found})
    return [(each, names[each.collection_id]) for each in found]


async def get_performance(
    session: ReadSession, bot: BotOut, collections: Sequence[UUID], version: int | None
) -> BotPerformanceOut:
    """Return a bot's performance in these collections, or in all if none are given; of one version, or of all."""
    return await store.get_performance(session, bot.id, collections, version)


async def _by_id(bots: Bots, bot_id: UUID, team: str | None) -> BotOut:
    try:
        bot = await bots.get(bot_id)
    except UnknownBot:
        raise NoSuchBot(bot_id=bot_id) from None
    if team is not None and (bot.team is None or bot.team != team):
        raise NoSuchBot(bot_id=bot_id)
    return bot


async def _by_name(bots: Bots, name: str, team: str | None) -> BotOut:
    found = await bots.find_named(name, team)
    if not found:
        there = sorted({bot.name for bot in await bots.find_named(None, team)})
        raise NoBotOfName(name=name, suggestion=suggestion(name, there))
    if len(found) > 1:
        owners = ", ".join(f"{bot.id} (of {bot.team or 'the operator'})" for bot in found)
        raise SeveralBotsOfName(count=len(found), name=name, owners=owners)
    return found[0]
