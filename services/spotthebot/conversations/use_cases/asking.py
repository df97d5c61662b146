"""Asking bots for turns: what comes back, or why nothing does, as steps of conversations."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from uuid import UUID

from spotthebot.contracts.bots import BotStatus
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.domain.conversations import Conversation
from spotthebot.conversations.domain.errors import UnknownBot
from spotthebot.conversations.domain.stepping import Step, fail, leave, step
from spotthebot.conversations.store.places import Wanted
from spotthebot.kit.client import PeerRefused, PeerUnavailable

_ABOUT_THE_BOT = {HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY}
"""Refusals that another attempt would not mend; all others are the house's trouble, and no conversation's fault."""


@dataclass(frozen=True)
class Answer:
    """What a request for turns came to; with `trouble` it came to nothing, and may be made again."""

    steps: tuple[Step, ...]
    trouble: PeerUnavailable | PeerRefused | None = None


async def ask(bots: Bots, conversations: Sequence[Conversation]) -> Answer:
    """Ask one version of a bot for the next turn of each conversation; all wait for the slowest reply."""
    bot_id = conversations[0].next_bot
    if bot_id is None:
        message = f"nobody is to be asked in conversation {conversations[0].id}"
        raise ValueError(message)
    try:
        replies = await bots.reply(bot_id, conversations)
    except PeerUnavailable as unavailable:
        return Answer((), unavailable)
    except PeerRefused as refused:
        if refused.status not in _ABOUT_THE_BOT:
            return Answer((), refused)
        return await _refused(bots, bot_id, conversations, refused)
    return Answer(tuple(step(each, reply) for each, reply in zip(conversations, replies, strict=True)))


async def places_wanted(bots: Bots, bot_id: UUID, conversations: int) -> Wanted:
    """Say what to take at a bot: at worst a question waits its time-out to be asked, and again for the reply.

    Raises PeerUnavailable and PeerRefused.
    """
    try:
        limits = (await bots.recall(bot_id)).limits
    except UnknownBot:  # asking will say so
        return Wanted(conversations, limit=conversations, seconds=60)
    return Wanted(conversations, limit=limits.concurrency, seconds=2 * limits.timeout_seconds + 10)


def requests(conversations: Sequence[Conversation], size: int) -> Iterable[Sequence[Conversation]]:
    """Cut conversations that wait for one bot into requests, each for one version of it."""
    by_version: dict[int | None, list[Conversation]] = defaultdict(list)
    for each in conversations:
        by_version[each.next_version].append(each)
    for same in by_version.values():
        for start in range(0, len(same), size):
            yield same[start : start + size]


async def _refused(bots: Bots, bot_id: UUID, conversations: Sequence[Conversation], refused: PeerRefused) -> Answer:
    """Tell bots that may come back, which are suspended or failing, from what stays refused."""
    try:
        bot = await bots.get(bot_id)
        may_come_back = bot.status in {BotStatus.SUSPENDED, BotStatus.FAILING}
    except UnknownBot:
        may_come_back = False
    except (PeerUnavailable, PeerRefused) as trouble:
        return Answer((), trouble)
    decide = leave if may_come_back else fail
    return Answer(tuple(decide(each, str(refused)) for each in conversations))
