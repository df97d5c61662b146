"""Held-out exchanges: exchanges in people's conversations that annotators may see. No bot may learn such a dialogue.

A dialogue is recognised by its exchanges, not by its key. It may be in another corpus, be in another split, be cut, or
come back in an exported file. One exchange in common happens by chance ("How are you?" "Fine, thanks."); two exchanges
in common mean that it is the same dialogue. For a conversation with a single exchange, one exchange in common is
enough.

A chat with a bot holds out only dialogues stored after it began, because an earlier dialogue can't be a copy of it.
Otherwise a person who repeats lines of a corpus to a bot could silence every bot that learned from the corpus.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from spotthebot.conversations.texts.domain import HASH_BYTES, exchange_hashes

ENOUGH: Final = 2
ALWAYS: Final = UUID(int=0)
"""An id below every dialogue's id."""


@dataclass(frozen=True)
class PeoplesConversation:
    """A conversation with a person. It holds out only dialogues that were stored later, with ids above `since`."""

    turns: Sequence[str]
    since: UUID = ALWAYS


@dataclass(frozen=True)
class HeldOutExchange:
    """An exchange of people's conversations; `suffices` if this exchange alone identifies a dialogue."""

    number: int
    since: UUID
    suffices: bool

    @property
    def in_chat(self) -> bool:
        return self.since != ALWAYS


def exchange_numbers(turns: Sequence[str]) -> frozenset[int]:
    """Return a 64-bit number for each exchange, i.e. for every two adjacent turns."""
    hashes = exchange_hashes(turns)
    return frozenset(
        int.from_bytes(hashes[start : start + HASH_BYTES], "big", signed=True)
        for start in range(0, len(hashes), HASH_BYTES)
    )


def held_out_exchanges(conversations: Sequence[PeoplesConversation]) -> list[HeldOutExchange]:
    """Return the exchanges of people's conversations in a fixed order, chats separately from other conversations."""
    found: dict[tuple[int, bool], HeldOutExchange] = {}
    for conversation in conversations:
        numbers = exchange_numbers(conversation.turns)
        for number in numbers:
            new = HeldOutExchange(number, conversation.since, suffices=len(numbers) < ENOUGH)
            old = found.get((number, new.in_chat), new)
            found[number, new.in_chat] = HeldOutExchange(
                number, min(old.since, new.since), suffices=old.suffices or new.suffices
            )
    return [found[key] for key in sorted(found)]


def is_held_out(
    dialogue_id: UUID, exchanges: frozenset[int], held_out: Mapping[int, Sequence[HeldOutExchange]]
) -> bool:
    """Return whether a dialogue with these exchanges is one of people's conversations."""
    found: dict[bool, list[bool]] = defaultdict(list)
    for number in exchanges:
        for each in held_out.get(number, ()):
            if each.since < dialogue_id:
                found[each.in_chat].append(each.suffices)
    return any(any(suffices) or len(suffices) >= ENOUGH for suffices in found.values())
