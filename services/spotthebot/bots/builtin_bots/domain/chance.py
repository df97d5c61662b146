"""Chance that can be repeated: random numbers that depend on named values only.

Python's `hash()` of a text differs from process to process, so seeds are derived with SHA-256.
"""

import json
from hashlib import sha256
from random import Random

from spotthebot.bots.questions.domain.dialogue import Context


def chance_of(*key: object) -> Random:
    """Return the generator that belongs to `key`: numbers, texts and tuples of them."""
    digest = sha256(json.dumps(key).encode("ascii")).digest()
    return Random(int.from_bytes(digest, "big"))  # noqa: S311 - repeatable on purpose, guards no secret


def chance_in(bot_seed: int, context: Context) -> Random:
    """Return the generator for one reply: a function of the bot's seed and the context."""
    return chance_of(bot_seed, context.seed, context.turns)
