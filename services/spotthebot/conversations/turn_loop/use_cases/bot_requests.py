"""Requests for turns to the service `bots`, and the steps that follow from their answers.

A request holds as many conversations as fit, by number and by bytes. If `bots`, or a proxy before it, refuses a request
as too large, the request is halved. If a request with a single conversation is too large, the conversation fails. If
`bots` answers 500, the request is halved, too. The single conversation that causes the 500 counts a failure, and the
other conversations continue.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from uuid import UUID

from spotthebot.clients import PEER_TROUBLE, PeerRefused, PeerUnavailable, UnexpectedAnswer
from spotthebot.contracts.bots.replies import MAX_REPLIES_BYTES
from spotthebot.conversations.clients import Bots
from spotthebot.conversations.conversations.domain import Conversation, Step, count_failure, fail, step, wait_for_bot
from spotthebot.conversations.conversations.errors import UnknownBot
from spotthebot.conversations.turn_loop.domain import MAY_RECOVER, SlotRequest, request_slots

_ABOUT_THE_BOT = {HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY}
"""Refusals that no retry can resolve. Any other refusal is a fault between our services, not of a conversation."""

_MAX_BYTES_PER_CHARACTER = 6
r"""The size in JSON of a control character, such as `\u0000`."""
_MAX_BYTES_BESIDE = 500
"""The size of a context without its turns: seed, ids, domain."""


@dataclass(frozen=True)
class BotAnswer:
    """The steps that a request for turns led to.

    With `trouble`, conversations without a step may be requested again.
    """

    steps: tuple[Step, ...]
    trouble: PeerUnavailable | PeerRefused | UnexpectedAnswer | None = None


async def request_turns(bots: Bots, conversations: Sequence[Conversation]) -> BotAnswer:
    """Ask one version of a bot for the next turn of each conversation; all wait for the slowest reply."""
    bot_id = conversations[0].next_bot
    if bot_id is None:
        message = f"in conversation {conversations[0].id} no bot speaks next"
        raise ValueError(message)
    if len(conversations) == 1 and not _fit(conversations):
        return _too_large(conversations[0])
    try:
        replies = await bots.reply(bot_id, conversations)
    except (PeerUnavailable, UnexpectedAnswer) as trouble:
        return BotAnswer((), trouble)
    except PeerRefused as refused:
        if refused.status in {HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.INTERNAL_SERVER_ERROR}:
            return await _request_in_halves(bots, conversations, refused)
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
    """Yield conversations that wait for one bot as requests of at most `size`, each for one version of the bot.

    All conversations of a request belong to one collection. A request holds at most `MAX_REPLIES_BYTES` bytes, or a
    single larger conversation.
    """
    alike: dict[tuple[UUID, int | None], list[Conversation]] = defaultdict(list)
    for each in conversations:
        alike[each.collection_id, each.next_version].append(each)
    for same in alike.values():
        for start in range(0, len(same), size):
            yield from _split_by_bytes(same[start : start + size])


def _split_by_bytes(conversations: Sequence[Conversation]) -> Iterable[Sequence[Conversation]]:
    if _fit(conversations):
        yield conversations
        return
    request: list[Conversation] = []
    left = MAX_REPLIES_BYTES
    for each in conversations:
        size = _bytes_of(each)
        if request and size > left:
            yield request
            request, left = [], MAX_REPLIES_BYTES
        request.append(each)
        left -= size
    yield request


def _fit(conversations: Sequence[Conversation]) -> bool:
    """Return whether conversations fit into one request; serialises them only if an estimate does not decide."""
    characters = sum(len(text) + 1 for each in conversations for text in (*each.history, each.next_persona or ""))
    if len(conversations) * _MAX_BYTES_BESIDE + characters * _MAX_BYTES_PER_CHARACTER <= MAX_REPLIES_BYTES:
        return True
    return sum(map(_bytes_of, conversations)) <= MAX_REPLIES_BYTES


def _bytes_of(conversation: Conversation) -> int:
    return _MAX_BYTES_BESIDE + len(
        json.dumps([*conversation.history, conversation.next_persona], ensure_ascii=False).encode()
    )


async def _request_in_halves(bots: Bots, conversations: Sequence[Conversation], refused: PeerRefused) -> BotAnswer:
    if len(conversations) == 1 and refused.status == HTTPStatus.INTERNAL_SERVER_ERROR:
        reason = "The service bots failed at the request for this turn (500); its log says why."
        return BotAnswer((count_failure(conversations[0], reason),), refused)
    if len(conversations) == 1:
        return _too_large(conversations[0])
    half = len(conversations) // 2
    answers = [await request_turns(bots, part) for part in (conversations[:half], conversations[half:])]
    trouble = next((answer.trouble for answer in answers if answer.trouble is not None), None)
    return BotAnswer(tuple(step for answer in answers for step in answer.steps), trouble)


def _too_large(conversation: Conversation) -> BotAnswer:
    reason = f"The {len(conversation.history)} turns so far are too large for one request to the bot."
    return BotAnswer((fail(conversation, reason),))


async def _refused(bots: Bots, bot_id: UUID, conversations: Sequence[Conversation], refused: PeerRefused) -> BotAnswer:
    """Let conversations wait if their bot is suspended or failing, because it may recover; else fail them."""
    try:
        bot = await bots.get(bot_id)
        may_recover = bot.status in MAY_RECOVER
    except UnknownBot:
        may_recover = False
    except PEER_TROUBLE as trouble:
        return BotAnswer((), trouble)
    decide = wait_for_bot if may_recover else fail
    return BotAnswer(tuple(decide(each, str(refused)) for each in conversations))
