"""What annotators may see of a conversation."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from spotthebot.contracts.conversations import Turn


@dataclass(frozen=True)
class ShownConversation:
    """The texts of a conversation with neutral sides A and B; nothing says who speaks."""

    conversation_id: UUID
    external_id: str | None
    opening: tuple[Turn, ...]
    turns: tuple[Turn, ...]

    @property
    def exchanges(self) -> int:
        return len(self.turns) // 2

    @property
    def longest(self) -> int:
        """How many exchanges show all turns, with a last one that has no reply."""
        return (len(self.turns) + 1) // 2


@dataclass(frozen=True)
class Interactors:
    """Hashes of those who chatted in conversations, with one salt; they name nobody who is not known already."""

    salt: bytes | None
    sha256: Mapping[UUID, bytes]
