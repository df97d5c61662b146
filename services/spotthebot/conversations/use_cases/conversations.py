"""Conversations as far as a reader may see them."""

from uuid import UUID

from spotthebot.contracts.access import Role
from spotthebot.conversations import store
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.domain.conversations import Conversation
from spotthebot.conversations.domain.errors import NoSuchBot, UnknownBot
from spotthebot.kit.access.keys import Principal
from spotthebot.kit.database import ReadSession


async def list_conversations_of_bot(
    session: ReadSession, bots: Bots, principal: Principal, bot_id: UUID, *, after: UUID | None, limit: int
) -> list[Conversation]:
    """Return a bot's conversations; a team may name its own bots, and gets no other bot's name or id.

    Raises NoSuchBot for a bot that is not there, or not the team's.
    """
    try:
        bot = await bots.get(bot_id)
    except UnknownBot:
        raise NoSuchBot(bot_id=bot_id) from None
    if principal.role == Role.TEAM and (bot.team is None or bot.team != principal.team):
        raise NoSuchBot(bot_id=bot_id)
    conversations = await store.conversations.list_conversations_of_bot(session, bot_id, after=after, limit=limit)
    return [each.seen_by(bot_id) for each in conversations] if principal.role == Role.TEAM else conversations
