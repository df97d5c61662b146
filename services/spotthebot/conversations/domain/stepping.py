"""What a reply makes of a conversation: its next turn, its end, another attempt later, or its failure."""

from dataclasses import dataclass, replace
from uuid import UUID

from spotthebot.contracts.bots import ReplyFailure
from spotthebot.contracts.conversations import ConversationState, Ending
from spotthebot.conversations.domain.conversations import Conversation, Reply
from spotthebot.conversations.domain.quality.cleaning import clean
from spotthebot.conversations.domain.quality.stopping import is_farewell, repeats

MAX_ATTEMPTS = 8
"""Failures of one turn, in a row, before its conversation fails: about a minute and a half of waiting."""
_FIRST_WAIT_SECONDS = 0.5
_LONGEST_WAIT_SECONDS = 30.0
_RATE_LIMITED_WAIT_SECONDS = 5.0


@dataclass(frozen=True)
class Step:
    """One conversation after one reply.

    `text` is the turn to add, None where nothing was said. `wait_seconds` says after which time to ask again. A bot
    that is `away` is asked nothing more until it answers again; its conversation is left as it was.
    """

    before: Conversation
    after: Conversation
    text: str | None = None
    raw: str | None = None
    latency_ms: float | None = None
    wait_seconds: float | None = None
    away: UUID | None = None
    reason: str | None = None
    """Why it is away."""


def step(conversation: Conversation, reply: Reply) -> Step:
    """Decide what a reply means; pure, so that it can be decided again after a crash."""
    if reply.text is not None:
        said = clean(reply.text)
        if said:
            return _said(conversation, said, reply)
        reply = Reply(None, ReplyFailure.EMPTY, "Nothing but special tokens.", reply.latency_ms)
    match reply.failure:
        case ReplyFailure.CIRCUIT_OPEN:
            return leave(conversation, reply.detail or "")
        case ReplyFailure.RATE_LIMITED:
            return Step(conversation, conversation, wait_seconds=_RATE_LIMITED_WAIT_SECONDS)
        case _:
            return _in_vain(conversation, reply)


def leave(conversation: Conversation, reason: str) -> Step:
    """Leave a conversation as it is until its next bot, which is away, answers again."""
    return Step(conversation, conversation, away=conversation.next_bot, reason=reason[:1000])


def fail(conversation: Conversation, reason: str) -> Step:
    """End a conversation for a reason that no other attempt would mend."""
    return Step(conversation, replace(conversation, state=ConversationState.FAILED, failure=reason[:1000]))


def _said(conversation: Conversation, text: str, reply: Reply) -> Step:
    turns = (*conversation.turns, text)
    ending = _ending(conversation, turns)
    after = replace(
        conversation,
        turns=turns,
        attempts=0,
        ended_by=ending,
        state=ConversationState.COMPLETE if ending else ConversationState.RUNNING,
    )
    raw = reply.text if reply.text != text else None
    return Step(conversation, after, text=text, raw=raw, latency_ms=reply.latency_ms)


def _ending(conversation: Conversation, turns: tuple[str, ...]) -> Ending | None:
    rules = conversation.stop
    if len(turns) >= conversation.turns_wanted:
        return Ending.EXCHANGES
    if rules.farewell and len(turns) > 1 and all(is_farewell(text) for text in turns[-2:]):
        return Ending.FAREWELL
    if rules.repeated and repeats(turns[::-2][::-1], rules.repeated):
        return Ending.REPEATED
    return None


def _in_vain(conversation: Conversation, reply: Reply) -> Step:
    attempts = conversation.attempts + 1
    if reply.failure is ReplyFailure.EMPTY and conversation.stop.empty and attempts >= conversation.stop.empty:
        ended = replace(conversation, state=ConversationState.COMPLETE, ended_by=Ending.EMPTY)
        return Step(conversation, ended)
    if attempts >= MAX_ATTEMPTS:
        return fail(conversation, reply.reason)
    wait = min(_FIRST_WAIT_SECONDS * 2.0 ** (attempts - 1), _LONGEST_WAIT_SECONDS)
    return Step(conversation, replace(conversation, attempts=attempts), wait_seconds=wait)
