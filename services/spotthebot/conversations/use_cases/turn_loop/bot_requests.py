"""Requests for turns to the service `bots`, and what their answers make of conversations."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from uuid import UUID

from spotthebot.clients import PEER_TROUBLE, PeerRefused, PeerUnavailable, UnexpectedAnswer
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.domain.availability import MAY_RECOVER
from spotthebot.conversations.domain.concurrency import SlotRequest, request_slots
from spotthebot.conversations.domain.conversations import Conversation
from spotthebot.conversations.domain.errors import UnknownBot
from spotthebot.conversations.domain.transitions import Step, fail, step, wait_for_bot

_ABOUT_THE_BOT = {HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY}
"""Refusals that no retry would mend; any other refusal is trouble between our services, not of a conversation."""


@dataclass(frozen=True)
class BotAnswer:
    """The steps that a request for turns led to; with `trouble` there are none, and the request may be repeated."""

    steps: tuple[Step, ...]
    trouble: PeerUnavailable | PeerRefused | UnexpectedAnswer | None = None


async def request_turns(bots: Bots, conversations: Sequence[Conversation]) -> BotAnswer:
    """Ask one version of a bot for the next turn of each conversation; all wait for the slowest reply."""
    bot_id = conversations[0].next_bot
    if bot_id is None:
        message = f"in conversation {conversations[0].id} no bot speaks next"
        raise ValueError(message)
    try:
        replies = await bots.reply(bot_id, conversations)
    except (PeerUnavailable, UnexpectedAnswer) as trouble:
        return BotAnswer((), trouble)
    except PeerRefused as refused:
        if refused.status not in _ABOUT_THE_BOT:
            return BotAnswer((), refused)
        return await _refused(bots, bot_id, conversations, refused)
    return BotAnswer(tuple(step(each, reply) for each, reply in zip(conversations, replies, strict=True)))


async def slots_needed(bots: Bots, bot_id: UUID, conversations: int) -> SlotRequest:
    """Return the concurrency slots to acquire at a bot, by its limits; raises PEER_TROUBLE."""
    try:
        return request_slots(conversations, (await bots.recall(bot_id)).limits)
    except UnknownBot:
        return request_slots(conversations, None)


def split_into_requests(conversations: Sequence[Conversation], size: int) -> Iterable[Sequence[Conversation]]:
    """Yield conversations that wait for one bot as requests of at most `size`, each for one version of the bot."""
    by_version: dict[int | None, list[Conversation]] = defaultdict(list)
    for each in conversations:
        by_version[each.next_version].append(each)
    for same in by_version.values():
        for start in range(0, len(same), size):
            yield same[start : start + size]


async def _refused(bots: Bots, bot_id: UUID, conversations: Sequence[Conversation], refused: PeerRefused) -> BotAnswer:
    """Wait for bots that may recover, which are suspended or failing; fail conversations with all others."""
    try:
        bot = await bots.get(bot_id)
        may_recover = bot.status in MAY_RECOVER
    except UnknownBot:
        may_recover = False
    except PEER_TROUBLE as trouble:
        return BotAnswer((), trouble)
    decide = wait_for_bot if may_recover else fail
    return BotAnswer(tuple(decide(each, str(refused)) for each in conversations))
