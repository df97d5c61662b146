"""Repeatable chance: random numbers that depend only on named values.

Python's `hash()` of a text differs between processes, so seeds are derived with SHA-256.
"""

import json
from hashlib import sha256
from random import Random

from spotthebot.bots.questions.domain.dialogue import Context


def chance_of(*key: object) -> Random:
    """Return the random generator for a `key` of numbers, texts, and tuples of numbers and texts."""
    digest = sha256(json.dumps(key).encode("ascii")).digest()
    return Random(int.from_bytes(digest, "big"))  # noqa: S311 - repeatable on purpose, guards no secret


def chance_in(bot_seed: int, context: Context) -> Random:
    """Return the random generator for one reply; it depends on the bot's seed and the context."""
    return chance_of(bot_seed, context.seed, context.turns)
