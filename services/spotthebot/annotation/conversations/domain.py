"""What annotators may see of a conversation."""

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from spotthebot.annotation.conversations.errors import ConversationsNamedAlike
from spotthebot.contracts.turns import Turn


@dataclass(frozen=True, slots=True)
class PackedTurns:
    """Turns in a tenth of their memory: a campaign may take half a million conversations."""

    count: int
    packed: bytes

    @classmethod
    def of(cls, turns: Sequence[Turn]) -> "PackedTurns":
        """Pack turns; equal ones are equal when they are packed."""
        stored = json.dumps([{"speaker": turn.speaker, "text": turn.text} for turn in turns])
        return cls(len(turns), zlib.compress(stored.encode(), 1))

    def unpacked(self) -> list[dict[str, str]]:
        """Return the turns as they are stored."""
        turns: list[dict[str, str]] = json.loads(zlib.decompress(self.packed))
        return turns


@dataclass(frozen=True, slots=True)
class ShownConversation:
    """The texts of a conversation with neutral sides A and B; nothing says who speaks."""

    conversation_id: UUID
    external_id: str | None
    opening: PackedTurns
    turns: PackedTurns

    @property
    def name(self) -> str:
        """What files call it."""
        return self.external_id or str(self.conversation_id)

    @property
    def exchanges(self) -> int:
        return self.turns.count // 2

    @property
    def longest(self) -> int:
        """How many exchanges show all turns, with a last one that has no reply."""
        return (self.turns.count + 1) // 2


@dataclass(frozen=True)
class Interactors:
    """Hashes of those who chatted in conversations, with one salt; they name nobody who is not known already."""

    salt: bytes | None
    sha256: Mapping[UUID, bytes]


@dataclass(frozen=True)
class Mix:
    """Which conversations a campaign takes: of several collections, in order, those of `exchanges` or more.

    `human_share` of them are human-human ones, drawn by `seed`; None: all that there are.
    """

    collections: tuple[UUID, ...]
    exchanges: int
    human_share: float | None
    seed: int

    @property
    def selects_all(self) -> bool:
        """Whether every conversation is selected."""
        return len(self.collections) == 1 and self.human_share is None


def mixed(collections: Iterable[Sequence[ShownConversation]]) -> list[ShownConversation]:
    """Return the conversations of several collections in order; one that is in two of them comes once.

    Files name conversations, so one name stands for one text. Raises ConversationsNamedAlike.
    """
    named: dict[str, ShownConversation] = {}
    for conversation in (each for collection in collections for each in collection):
        first = named.setdefault(conversation.name, conversation)
        if first.turns != conversation.turns:
            raise ConversationsNamedAlike(name=conversation.name)
    return list(named.values())
