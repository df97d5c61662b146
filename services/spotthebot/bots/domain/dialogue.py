"""What bots and their askers have in common: a context, and the dialogues that learning bots learn from."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

Dialogue = tuple[str, ...]
"""Turns, oldest first."""
Side = Literal["A", "B"]


@dataclass(frozen=True)
class Context:
    """A conversation so far, in which the bot speaks next. `conversation_id` is None where nobody named one."""

    turns: tuple[str, ...]
    seed: int
    conversation_id: UUID | None = None
    speaker: Side | None = None
    domain: str | None = None
    persona: str | None = None

    @property
    def side(self) -> Side:
        """Who the bot is: A after an even number of turns, where it is not said."""
        return self.speaker or ("A" if len(self.turns) % 2 == 0 else "B")

    def spoken(self) -> Iterator[tuple[Side, str]]:
        """Yield the turns with their speakers: the last one is always the partner's."""
        partner: Side = "B" if self.side == "A" else "A"
        for position, text in enumerate(self.turns):
            yield partner if (len(self.turns) - position) % 2 else self.side, text

    def key(self, asked: str) -> str | None:
        """Return what makes a repeated question to `asked` (a bot's version) recognisable; None without an id."""
        if self.conversation_id is None:
            return None
        facts = [asked, str(self.conversation_id), self.seed, list(self.turns)]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:32]
