"""Transitions of a conversation: a reply leads to its next turn, its end, another attempt later, or its failure."""

from dataclasses import dataclass, replace
from uuid import UUID

from spotthebot.contracts.bots import ReplyFailure
from spotthebot.contracts.conversations import ConversationState, Ending
from spotthebot.conversations.domain.conversations import Conversation, Reply
from spotthebot.conversations.domain.quality.debris import clean
from spotthebot.conversations.domain.quality.stop_rules import is_farewell, repeats
from spotthebot.conversations.domain.retries import MAX_ATTEMPTS, RATE_LIMITED_WAIT_SECONDS, TURN_BACKOFF


@dataclass(frozen=True)
class Step:
    """The transition of one conversation after one reply.

    `text` is the turn to add, None where there is none. The turn is requested again after `wait_seconds`. An
    `unavailable_bot` is asked nothing more until it recovers; its conversation stays as it is.
    """

    before: Conversation
    after: Conversation
    text: str | None = None
    raw: str | None = None
    latency_ms: float | None = None
    wait_seconds: float | None = None
    unavailable_bot: UUID | None = None
    reason: str | None = None
    """Why the bot is unavailable."""

    @property
    def is_released(self) -> bool:
        """Whether the runner releases the conversation after this step: it ended, or waits."""
        has_ended = self.after.state is not ConversationState.RUNNING
        return has_ended or self.wait_seconds is not None or self.unavailable_bot is not None


def step(conversation: Conversation, reply: Reply) -> Step:
    """Return the step that a reply leads to; pure, so that it can be computed again after a crash."""
    if reply.text is not None:
        text = clean(reply.text)
        if text:
            return _new_turn(conversation, text, reply)
        reply = Reply(None, ReplyFailure.EMPTY, "Nothing but special tokens.", reply.latency_ms)
    match reply.failure:
        case ReplyFailure.CIRCUIT_OPEN:
            return wait_for_bot(conversation, reply.detail or "")
        case ReplyFailure.RATE_LIMITED:
            wait = reply.retry_after_seconds or RATE_LIMITED_WAIT_SECONDS
            return Step(conversation, conversation, wait_seconds=wait)
        case _:
            return _failed_attempt(conversation, reply)


def wait_for_bot(conversation: Conversation, reason: str) -> Step:
    """Leave a conversation as it is until its next bot, which is unavailable, recovers."""
    return Step(conversation, conversation, unavailable_bot=conversation.next_bot, reason=reason[:1000])


def fail(conversation: Conversation, reason: str) -> Step:
    """End a conversation for a reason that no retry would mend."""
    return Step(conversation, replace(conversation, state=ConversationState.FAILED, failure=reason[:1000]))


def count_failure(conversation: Conversation, reason: str) -> Step:
    """Count a failure of `bots` at one conversation, which its runner keeps; the eighth in a row ends it."""
    attempts = conversation.attempts + 1
    return (
        fail(conversation, reason)
        if attempts >= MAX_ATTEMPTS
        else Step(conversation, replace(conversation, attempts=attempts))
    )


def _new_turn(conversation: Conversation, text: str, reply: Reply) -> Step:
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
    if len(turns) >= conversation.turns_planned:
        return Ending.EXCHANGES
    if rules.farewell and len(turns) > 1 and all(is_farewell(text) for text in turns[-2:]):
        return Ending.FAREWELL
    if rules.repeated and repeats(turns[::-2][::-1], rules.repeated):
        return Ending.REPEATED
    return None


def _failed_attempt(conversation: Conversation, reply: Reply) -> Step:
    attempts = conversation.attempts + 1
    if reply.failure is ReplyFailure.EMPTY and conversation.stop.empty and attempts >= conversation.stop.empty:
        ended = replace(conversation, state=ConversationState.COMPLETE, ended_by=Ending.EMPTY)
        return Step(conversation, ended)
    if attempts >= MAX_ATTEMPTS:
        return fail(conversation, reply.reason)
    wait = max(TURN_BACKOFF.seconds(attempts), reply.retry_after_seconds or 0.0)
    return Step(conversation, replace(conversation, attempts=attempts), wait_seconds=wait)
