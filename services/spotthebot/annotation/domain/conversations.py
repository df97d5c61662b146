"""What annotators may see of a conversation."""

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
