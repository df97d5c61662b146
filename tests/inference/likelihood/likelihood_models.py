"""Tiny causal models with room for long contexts, and random units of work for them."""

import random
from collections.abc import Callable
from typing import Any

from tests.factories.lazy_imports import lazily
from tests.factories.tiny_models import gpt2, llama

torch = lazily("torch")
Context = lazily("spotthebot.inference.models.likelihood.units:Context")
chained = lazily("spotthebot.inference.models.likelihood.units:chained")
load_pretrained = lazily("spotthebot.inference.models.pretrained:load_pretrained")

POSITIONS = 1024
MAKERS: dict[str, Callable[..., Any]] = {"gpt2": gpt2, "llama": llama}
_VOCABULARY = range(3, 350)
"""Tokens of texts: the special ones come before."""


def loaded(folder):
    """Read a tiny model's files: a new object each time, since a likelihood model changes its own."""
    return load_pretrained(str(folder), device=torch.device("cpu"), dtype="auto", revision=None)


def random_units(count, lengths, *, seed=3, likelihood=True):
    """Contexts of random tokens with three follow-ups each, of which two begin alike; each is a unit of its own."""
    chance = random.Random(seed)

    def tokens(length):
        return tuple(chance.choice(_VOCABULARY) for _ in range(length))

    units = []
    for number in range(count):
        shared = tokens(2)
        followups = ((*shared, *tokens(4)), (*shared, *tokens(1)), tokens(3))
        units += chained([Context(number, tokens(chance.choice(lengths)), followups)], likelihood=likelihood)
    return units
