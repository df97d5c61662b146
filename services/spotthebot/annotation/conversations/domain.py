"""Conversations as annotators may see them."""

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from spotthebot.annotation.conversations.errors import ConversationsNamedAlike
from spotthebot.contracts.turns import Turn


@dataclass(frozen=True, slots=True)
class PackedTurns:
    """Packed turns, which need a tenth of the memory. A campaign may take half a million conversations."""

    count: int
    packed: bytes

    @classmethod
    def of(cls, turns: Sequence[Turn]) -> "PackedTurns":
        """Pack turns; equal turns are packed to equal bytes."""
        stored = json.dumps([{"speaker": turn.speaker, "text": turn.text} for turn in turns])
        return cls(len(turns), zlib.compress(stored.encode(), 1))

    def unpacked(self) -> list[dict[str, str]]:
        """Return the turns in the form that is stored."""
        turns: list[dict[str, str]] = json.loads(zlib.decompress(self.packed))
        return turns


@dataclass(frozen=True, slots=True)
class ShownConversation:
    """The texts of a conversation with neutral sides A and B, without its participants."""

    conversation_id: UUID
    external_id: str | None
    opening: PackedTurns
    turns: PackedTurns

    @property
    def name(self) -> str:
        """The name of the conversation in files."""
        return self.external_id or str(self.conversation_id)

    @property
    def exchanges(self) -> int:
        return self.turns.count // 2

    @property
    def longest(self) -> int:
        """The number of exchanges that show all turns; the last exchange may lack its reply."""
        return (self.turns.count + 1) // 2


@dataclass(frozen=True)
class Interactors:
    """Salted hashes of the people who chatted in conversations.

    Only a reader who knows a person's id can recognise the person's hash.
    """

    salt: bytes | None
    sha256: Mapping[UUID, bytes]


@dataclass(frozen=True)
class Mix:
    """The selection of a campaign's conversations: from several collections in order, at least `exchanges` long.

    `human_share` is the share of human-human conversations, drawn by `seed`; None selects all conversations.
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
    """Return the conversations of several collections in order. A conversation of several collections appears once.

    Files refer to conversations by name, so each name must be unique. Raises ConversationsNamedAlike.
    """
    named: dict[str, ShownConversation] = {}
    for conversation in (each for collection in collections for each in collection):
        first = named.setdefault(conversation.name, conversation)
        if first.turns != conversation.turns:
            raise ConversationsNamedAlike(name=conversation.name)
    return list(named.values())
