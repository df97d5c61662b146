"""A conversation: its two sides, its turns, and who speaks next."""

from dataclasses import dataclass, replace
from typing import Literal
from uuid import UUID

from spotthebot.contracts.conversations import (
    CollectionId,
    ConversationId,
    ConversationState,
    Participant,
    ParticipantKind,
    Turn,
)


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
    turns_wanted: int
    seed: int
    domain: str

    @property
    def next_speaker(self) -> Literal["A", "B"]:
        return _speaker(len(self.turns))

    @property
    def next_version(self) -> int | None:
        """Which version of the next bot this conversation began with; None where that was not kept."""
        return self.participants[len(self.turns) % 2].version

    @property
    def next_bot(self) -> UUID | None:
        """The bot to ask for the next turn; None where nobody is to be asked."""
        speaker = self.participants[len(self.turns) % 2]
        is_running = self.state is ConversationState.RUNNING and len(self.turns) < self.turns_wanted
        return speaker.bot_id if is_running and speaker.kind is ParticipantKind.BOT else None

    @property
    def history(self) -> tuple[str, ...]:
        """All that the next speaker has heard, oldest first."""
        return self.opening + self.turns

    def seen_by(self, bot_id: UUID) -> "Conversation":
        """Return what the bot's owner may see: everything but which other bot took part."""
        first, second = (side if side.bot_id == bot_id else _nameless(side) for side in self.participants)
        return replace(self, participants=(first, second))

    @property
    def opening_turns(self) -> tuple[Turn, ...]:
        """The opening with its speakers: whoever answers it is A, so it ends with B."""
        count = len(self.opening)
        return tuple(Turn(speaker=_speaker(position - count), text=text) for position, text in enumerate(self.opening))

    @property
    def spoken_turns(self) -> tuple[Turn, ...]:
        return tuple(Turn(speaker=_speaker(position), text=text) for position, text in enumerate(self.turns))


@dataclass(frozen=True)
class Reply:
    """What a bot said, or why it said nothing; `later` where it may say something another time."""

    text: str | None
    failure: str | None
    latency_ms: float
    later: bool = False


def _nameless(side: Participant) -> Participant:
    return Participant(kind=side.kind, name="partner" if side.kind is ParticipantKind.BOT else side.name)


def _speaker(position: int) -> Literal["A", "B"]:
    return "A" if position % 2 == 0 else "B"
