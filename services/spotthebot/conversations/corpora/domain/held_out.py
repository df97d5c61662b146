"""Held-out exchanges: those of people's conversations that annotators may see. No bot may learn a dialogue of them.

A dialogue is recognised by its exchanges, not by its key: it may lie in another corpus, in another split, be cut, or
have come back by an export. One exchange in common happens by chance ("How are you?" "Fine, thanks."), two make it the
same dialogue; one is enough for a conversation that has no more.

A chat with a bot holds out only dialogues that were stored after it began: an earlier one can be no copy of it. Else a
person who repeats the lines of a corpus to a bot that answers with them would silence every bot that learned it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from spotthebot.conversations.texts.domain import HASH_BYTES, exchange_hashes

ENOUGH: Final = 2
ALWAYS: Final = UUID(int=0)
"""Below the id of every dialogue."""


@dataclass(frozen=True)
class PeoplesConversation:
    """A conversation with a person in it; it concerns dialogues whose ids, which grow with time, are above `since`."""

    turns: Sequence[str]
    since: UUID = ALWAYS


@dataclass(frozen=True)
class HeldOutExchange:
    """An exchange of people's conversations; `suffices` where it alone makes a dialogue the same."""

    number: int
    since: UUID
    suffices: bool

    @property
    def in_chat(self) -> bool:
        return self.since != ALWAYS


def exchange_numbers(turns: Sequence[str]) -> frozenset[int]:
    """Return a 64-bit number for each exchange, two adjacent turns."""
    hashes = exchange_hashes(turns)
    return frozenset(
        int.from_bytes(hashes[start : start + HASH_BYTES], "big", signed=True)
        for start in range(0, len(hashes), HASH_BYTES)
    )


def held_out_exchanges(conversations: Sequence[PeoplesConversation]) -> list[HeldOutExchange]:
    """Return the exchanges of people's conversations in one order, those of chats apart from the others."""
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
    """Say whether a dialogue with these exchanges is one of people's conversations."""
    found: dict[bool, list[bool]] = defaultdict(list)
    for number in exchanges:
        for each in held_out.get(number, ()):
            if each.since < dialogue_id:
                found[each.in_chat].append(each.suffices)
    return any(any(suffices) or len(suffices) >= ENOUGH for suffices in found.values())
