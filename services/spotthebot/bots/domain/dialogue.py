"""What a bot is shown before it speaks, and the dialogues that it may learn from."""

from dataclasses import dataclass
from typing import TypeAlias

Dialogue: TypeAlias = tuple[str, ...]
"""The turns of one dialogue of a corpus; its two speakers alternate."""


@dataclass(frozen=True)
class Context:
    """The conversation so far: texts, oldest first, possibly none; the bot speaks next.

    `seed` belongs to the conversation, so that one bot can hold two different conversations
    from the same opening and either of them can be held again word for word.
    """

    turns: tuple[str, ...]
    seed: int
