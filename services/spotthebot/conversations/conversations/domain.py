"""A conversation: its two sides, its turns, and the next speaker.

A reply leads to the next turn, the end, a later attempt, or a failure. Two loops retry. The inner loop is in `bots`:
for momentary faults, it repeats a question within the bot's time-out. The outer loop is here: for lasting faults, it
requests a failed turn again later, while other conversations continue.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Literal
from uuid import UUID

from spotthebot.contracts.bots.replies import ReplyFailure, ReplyOut
from spotthebot.contracts.conversations.collections import StopRules
from spotthebot.contracts.conversations.conversations import ConversationState, Ending, Participant, ParticipantKind
from spotthebot.contracts.conversations.ids import CollectionId, ConversationId
from spotthebot.contracts.turns import Turn
from spotthebot.conversations.texts.domain import clean, is_farewell, repeats
from spotthebot.kit.text.words import known_text_hash
from spotthebot.kit.waits.backoff import Backoff

TRANSITIONS: Final[Mapping[ConversationState, frozenset[ConversationState]]] = MappingProxyType(
    {
        ConversationState.RUNNING: frozenset(
            {ConversationState.COMPLETE, ConversationState.FAILED, ConversationState.CANCELLED}
        ),
        ConversationState.COMPLETE: frozenset(),
        ConversationState.FAILED: frozenset(),
        ConversationState.CANCELLED: frozenset(),
    }
)
"""The states that may follow each state: a conversation ends once, and for good."""
PARTNER_FAILED: Final = "The partner failed."
_NEVER = StopRules()


@dataclass(frozen=True)
class Conversation:
    """A conversation so far. `opening` holds utterances of people before the first turn."""

    id: ConversationId
    collection_id: CollectionId
    external_id: str | None
    state: ConversationState
    failure: str | None
    participants: tuple[Participant, Participant]
    opening: tuple[str, ...]
    opening_shown: bool
    turns: tuple[str, ...]
    turns_planned: int
    seed: int
    domain: str
    pair: int = 0
    round: int = 0
    ended_by: Ending | None = None
    personas: tuple[str, str] | None = None
    """Who A and B are to be; empty for a side without a persona."""
    attempts: int = 0
    """The number of failed requests for the next turn."""
    stop: StopRules = _NEVER

    @property
    def next_speaker(self) -> Literal["A", "B"]:
        return speaker_at(len(self.turns))

    @property
    def next_name(self) -> str:
        return self.participants[len(self.turns) % 2].name

    @property
    def next_version(self) -> int | None:
        """The version of the next speaker's bot at the beginning of this conversation; None if it was not stored."""
        return self.participants[len(self.turns) % 2].version

    @property
    def next_persona(self) -> str | None:
        """Who the next speaker is to be; None if it may be anyone."""
        return (self.personas[len(self.turns) % 2] or None) if self.personas else None

    @property
    def next_bot(self) -> UUID | None:
        """The bot to ask for the next turn; None if a person speaks next or the conversation has ended."""
        speaker = self.participants[len(self.turns) % 2]
        is_running = self.state is ConversationState.RUNNING and len(self.turns) < self.turns_planned
        return speaker.bot_id if is_running and speaker.kind is ParticipantKind.BOT else None

    def shown_text_hash(self, exchanges: int | None) -> bytes | None:
        """Return the hash of the words that annotators see in this many exchanges, or in all; None without words."""
        opening = self.opening if self.opening_shown else ()
        return known_text_hash([*opening, *self.turns[: None if exchanges is None else 2 * exchanges]])

    @property
    def has_person(self) -> bool:
        """Whether a person speaks on either side."""
        return any(side.kind is ParticipantKind.HUMAN for side in self.participants)

    @property
    def history(self) -> tuple[str, ...]:
        """All utterances so far, opening included, oldest first."""
        return self.opening + self.turns

    def seen_by(self, bot_id: UUID) -> "Conversation":
        """Return the conversation as the bot's owner may see it.

        It lacks the other bot, its persona, and the errors of the other bot's server.
        """
        first, second = (side if side.bot_id == bot_id else _nameless(side) for side in self.participants)
        at_partner = self.participants[len(self.turns) % 2].bot_id != bot_id
        failure = PARTNER_FAILED if at_partner and self.state is ConversationState.FAILED else self.failure
        personas = self.personas and (
            self.personas[0] if self.participants[0].bot_id == bot_id else "",
            self.personas[1] if self.participants[1].bot_id == bot_id else "",
        )
        return replace(self, participants=(first, second), failure=failure, personas=personas)

    @property
    def opening_turns(self) -> tuple[Turn, ...]:
        """The opening with its speakers. A speaks the first turn after the opening, so the opening ends with B."""
        count = len(self.opening)
        return tuple(
            Turn(speaker=speaker_at(position - count), text=text) for position, text in enumerate(self.opening)
        )

    @property
    def spoken_turns(self) -> tuple[Turn, ...]:
        return tuple(Turn(speaker=speaker_at(position), text=text) for position, text in enumerate(self.turns))


@dataclass(frozen=True)
class Speakers:
    """The participants of a conversation, without its turns."""

    id: ConversationId
    state: ConversationState
    participants: tuple[Participant, Participant]


@dataclass(frozen=True)
class Latencies:
    """How long each turn of a conversation took its speaker; None where no time was taken."""

    id: ConversationId
    latencies_ms: tuple[float | None, ...]


def failure_reason(reply: ReplyOut) -> str:
    """Return why a bot gave no reply: the failure and its detail."""
    return f"{reply.failure}: {reply.detail}"[:1000]


def _nameless(side: Participant) -> Participant:
    return Participant(kind=side.kind, name="partner" if side.kind is ParticipantKind.BOT else side.name)


def speaker_at(position: int) -> Literal["A", "B"]:
    """Return the speaker at a position. An opening has negative positions, so that it ends with B."""
    return "A" if position % 2 == 0 else "B"


@dataclass(frozen=True)
class Step:
    """The transition of one conversation after one reply.

    `text` is the turn to add, or None. After `wait_seconds` the turn is requested again. An `unavailable_bot` gets no
    requests until it recovers; its conversation stays unchanged.
    """

    before: Conversation
    after: Conversation
    text: str | None = None
    raw: str | None = None
    latency_ms: float | None = None
    wait_seconds: float | None = None
    unavailable_bot: UUID | None = None
    reason: str | None = None
    """The reason why the bot is unavailable."""

    @property
    def is_released(self) -> bool:
        """Whether the runner releases the conversation after this step, because it ended or waits."""
        has_ended = self.after.state is not ConversationState.RUNNING
        return has_ended or self.wait_seconds is not None or self.unavailable_bot is not None


def step(conversation: Conversation, reply: ReplyOut) -> Step:
    """Return the step that a reply leads to. The function is pure, so a step can be recomputed after a crash."""
    if reply.text is not None and reply.failure is None:
        text = clean(reply.text)
        if text:
            return _new_turn(conversation, text, reply)
        reply = ReplyOut.failed(ReplyFailure.EMPTY, "Nothing but special tokens.", latency_ms=reply.latency_ms)
    match reply.failure:
        case ReplyFailure.CIRCUIT_OPEN:
            return wait_for_bot(conversation, reply.detail or "")
        case ReplyFailure.RATE_LIMITED:
            wait = reply.retry_after_seconds or RATE_LIMITED_WAIT_SECONDS
            return Step(conversation, conversation, wait_seconds=wait)
        case _:
            return _failed_attempt(conversation, reply)


def wait_for_bot(conversation: Conversation, reason: str) -> Step:
    """Leave a conversation unchanged until its next bot, which is unavailable, recovers."""
    return Step(conversation, conversation, unavailable_bot=conversation.next_bot, reason=reason[:1000])


def fail(conversation: Conversation, reason: str) -> Step:
    """End a conversation for a reason that no retry can change."""
    return Step(conversation, replace(conversation, state=ConversationState.FAILED, failure=reason[:1000]))


def count_failure(conversation: Conversation, reason: str) -> Step:
    """Count a failure of the service `bots` for one conversation, which stays with its runner.

    The eighth failure in a row ends the conversation.
    """
    attempts = conversation.attempts + 1
    return (
        fail(conversation, reason)
        if attempts >= MAX_ATTEMPTS
        else Step(conversation, replace(conversation, attempts=attempts))
    )


def _new_turn(conversation: Conversation, text: str, reply: ReplyOut) -> Step:
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


def _failed_attempt(conversation: Conversation, reply: ReplyOut) -> Step:
    attempts = conversation.attempts + 1
    if reply.failure is ReplyFailure.EMPTY and conversation.stop.empty and attempts >= conversation.stop.empty:
        ended = replace(conversation, state=ConversationState.COMPLETE, ended_by=Ending.EMPTY)
        return Step(conversation, ended)
    if attempts >= MAX_ATTEMPTS:
        return fail(conversation, failure_reason(reply))
    wait = max(TURN_BACKOFF.seconds(attempts), reply.retry_after_seconds or 0.0)
    return Step(conversation, replace(conversation, attempts=attempts), wait_seconds=wait)


MAX_ATTEMPTS: Final = 8
"""Failures of one turn, in a row, before its conversation fails: about a minute and a half of waiting."""
TURN_BACKOFF: Final = Backoff(first_seconds=0.5, max_seconds=30.0)
RATE_LIMITED_WAIT_SECONDS: Final = 5.0
"""The wait after a bot's rate limit without a duration; it does not count as a failure."""
CHAT_WAITS_SECONDS: Final = (1.0, 2.0, 4.0)
"""The waits before retries of a turn that a person waits for; after the last failure the conversation ends."""
PEER_BACKOFF: Final = Backoff(first_seconds=0.25, max_seconds=5.0)
"""The waits for PostgreSQL, and for `bots` bot by bot.

A runner waits without limit, and no conversation counts a failure.
"""
CHAT_JOB_RETRIES: Final = 100
CHAT_JOB_BACKOFF: Final = Backoff(first_seconds=2.0, max_seconds=2.0)
"""The waits of a chat's reply job while `bots` is unavailable: some minutes, then the conversation ends."""
