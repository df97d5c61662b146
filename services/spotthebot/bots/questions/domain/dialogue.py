"""Contexts, which bots reply to, and dialogues, which learning bots learn from."""

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
    """A conversation so far, in which the bot speaks next; `conversation_id` is None if the request had no id.

    A `temperature` replaces the temperature that the bot is registered with, if the bot's protocol has a temperature.
    """

    turns: tuple[str, ...]
    seed: int
    conversation_id: UUID | None = None
    speaker: Side | None = None
    domain: str | None = None
    persona: str | None = None
    temperature: float | None = None

    @property
    def side(self) -> Side:
        """The side of the bot, from `speaker`; if that is None, A after an even number of turns, else B."""
        return self.speaker or ("A" if len(self.turns) % 2 == 0 else "B")

    def spoken(self) -> Iterator[tuple[Side, str]]:
        """Yield the turns with their speakers; the last speaker is always the partner."""
        partner: Side = "B" if self.side == "A" else "A"
        for position, text in enumerate(self.turns):
            yield partner if (len(self.turns) - position) % 2 else self.side, text

    def key(self, version_key: str) -> str | None:
        """Return a key that is equal for repeats of a question to a bot's version; None without a conversation id."""
        if self.conversation_id is None:
            return None
        facts = [version_key, str(self.conversation_id), self.seed, list(self.turns)]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:32]
