"""A bot that asks for more about the longest word that was said."""

import random
from collections.abc import Sequence

_ASKS = ("Tell me more about {word}.", "What do you like about {word}?", "Why {word}?")


def reply(turns: Sequence[str], seed: int) -> str:
    """Return the next turn; the same turns and seed give the same reply."""
    words = [word.strip(".,!?") for turn in turns for word in turn.split()]
    if not words:
        return "Hello, what shall we talk about?"
    chance = random.Random(f"{seed}/{len(turns)}")
    return chance.choice(_ASKS).format(word=max(words, key=len))
