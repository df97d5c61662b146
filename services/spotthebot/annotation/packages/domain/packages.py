"""Packages and what they show, as they are stored."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True)
class PackedConversation:
    """A conversation up to a number of exchanges; `text_hash` is known of those that are stored, but for rights."""

    conversation_id: UUID
    exchanges: int
    text_hash: bytes | None = None


@dataclass(frozen=True)
class PackedItem:
    """What is annotated together: one conversation, or two side by side, of which the first is on the left."""

    shown: PackedConversation
    right: PackedConversation | None = None


@dataclass(frozen=True)
class NewPackage:
    """A package to store, by its external id where it was used elsewhere, or by its block where it was allocated.

    Its items stand in their order at the positions that it leaves free for `gold` items.
    """

    items: tuple[PackedItem, ...]
    gold: frozenset[int] = frozenset()
    external_id: str | None = None
    block: int | None = None

    @property
    def positions(self) -> list[int]:
        """The positions of its items."""
        return [each for each in range(len(self.items) + len(self.gold)) if each not in self.gold]


@dataclass(frozen=True)
class UploadedItem:
    """An item that annotations are uploaded to; `speakers` has the side of each turn, of a pair on the left."""

    id: UUID
    speakers: str
    is_pair: bool


@dataclass(frozen=True)
class NamedItem:
    """What a position of a package shows; package and conversations have the names that files give them."""

    id: UUID
    package: str
    position: int
    conversation: str
    exchanges: int
    right_conversation: str | None
    right_exchanges: int | None


@dataclass(frozen=True)
class Package:
    """Items that one annotator works on in one sitting."""

    id: UUID
    external_id: str | None
    items: tuple[PackedItem, ...]
