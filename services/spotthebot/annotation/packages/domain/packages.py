"""Packages and their items, as they are stored."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True)
class PackedConversation:
    """A conversation up to a number of exchanges.

    `text_hash` is known only for conversations read from the database, and not for the right side of a pair.
    """

    conversation_id: UUID
    exchanges: int
    text_hash: bytes | None = None


@dataclass(frozen=True)
class PackedItem:
    """The conversations that are annotated together: one, or two side by side with the first on the left."""

    shown: PackedConversation
    right: PackedConversation | None = None


@dataclass(frozen=True)
class NewPackage:
    """A package to store: by its external id if it was uploaded, or by its block if it was allocated.

    Its items take, in order, the positions that are not in `gold`. It needs `extra_annotators` in addition to the
    campaign's `annotations_per_segment`.
    """

    items: tuple[PackedItem, ...]
    gold: frozenset[int] = frozenset()
    external_id: str | None = None
    block: int | None = None
    extra_annotators: int = 0

    @property
    def positions(self) -> list[int]:
        """The positions of the package's items."""
        return [each for each in range(len(self.items) + len(self.gold)) if each not in self.gold]


@dataclass(frozen=True)
class UploadedItem:
    """An item for uploaded annotations; `speakers` has the side of each turn.

    For a pair, `speakers` covers only the left conversation.
    """

    id: UUID
    speakers: str
    is_pair: bool


@dataclass(frozen=True)
class NamedItem:
    """The item at a position of a package, with the names of package and conversations in files."""

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
