"""A conversation: its two sides, its turns, and who speaks next."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Literal
from uuid import UUID

from spotthebot.contracts.bots import ReplyFailure
from spotthebot.contracts.conversations import (
    CollectionId,
    ConversationId,
    ConversationState,
    Ending,
    Participant,
    ParticipantKind,
    StopRules,
    Turn,
)
from spotthebot.kit.words import known_text_hash

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
    """A conversation as far as it went. `opening` holds what people said before the first turn."""

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
    attempts: int = 0
    """How often the next turn was asked for in vain."""
    stop: StopRules = _NEVER

    @property
    def next_speaker(self) -> Literal["A", "B"]:
        return speaker_at(len(self.turns))

    @property
    def next_name(self) -> str:
        return self.participants[len(self.turns) % 2].name

    @property
    def next_version(self) -> int | None:
        """Which version of the next bot this conversation began with; None where that was not kept."""
        return self.participants[len(self.turns) % 2].version

    @property
    def next_bot(self) -> UUID | None:
        """The bot to ask for the next turn; None where no bot has the next turn."""
        speaker = self.participants[len(self.turns) % 2]
        is_running = self.state is ConversationState.RUNNING and len(self.turns) < self.turns_planned
        return speaker.bot_id if is_running and speaker.kind is ParticipantKind.BOT else None

    def shown_text_hash(self, exchanges: int | None) -> bytes | None:
        """Return the hash of what annotators see of so many exchanges, or of all; None without words."""
        opening = self.opening if self.opening_shown else ()
        return known_text_hash([*opening, *self.turns[: None if exchanges is None else 2 * exchanges]])

    @property
    def has_person(self) -> bool:
        """Whether a person speaks in it, on either side."""
        return any(side.kind is ParticipantKind.HUMAN for side in self.participants)

    @property
    def history(self) -> tuple[str, ...]:
        """All that the next speaker has heard, oldest first."""
        return self.opening + self.turns

    def seen_by(self, bot_id: UUID) -> "Conversation":
        """Return what the bot's owner may see: all but which other bot took part, and what its server said."""
        first, second = (side if side.bot_id == bot_id else _nameless(side) for side in self.participants)
        at_partner = self.participants[len(self.turns) % 2].bot_id != bot_id
        failure = PARTNER_FAILED if at_partner and self.state is ConversationState.FAILED else self.failure
        return replace(self, participants=(first, second), failure=failure)

    @property
    def opening_turns(self) -> tuple[Turn, ...]:
        """The opening with its speakers: A speaks the first turn after it, so it ends with B."""
        count = len(self.opening)
        return tuple(
            Turn(speaker=speaker_at(position - count), text=text) for position, text in enumerate(self.opening)
        )

    @property
    def spoken_turns(self) -> tuple[Turn, ...]:
        return tuple(Turn(speaker=speaker_at(position), text=text) for position, text in enumerate(self.turns))


@dataclass(frozen=True)
class Speakers:
    """Who speaks in a conversation, without its turns."""

    id: ConversationId
    state: ConversationState
    participants: tuple[Participant, Participant]


@dataclass(frozen=True)
class Reply:
    """What a bot said, or why it said nothing."""

    text: str | None
    failure: ReplyFailure | None
    detail: str | None
    latency_ms: float
    retry_after_seconds: float | None = None

    @property
    def reason(self) -> str:
        return f"{self.failure}: {self.detail}"[:1000]


def _nameless(side: Participant) -> Participant:
    return Participant(kind=side.kind, name="partner" if side.kind is ParticipantKind.BOT else side.name)


def speaker_at(position: int) -> Literal["A", "B"]:
    """Return who speaks at a position; an opening has the negative ones, so that it ends with B."""
    return "A" if position % 2 == 0 else "B"
