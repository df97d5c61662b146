"""The units of computation: a chain of tokens, at some places of which follow-ups branch off."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .trees import FollowupTree, build_tree


@dataclass(frozen=True)
class Context:
    """The tokens of a context and of its follow-ups; `number` is its own in its batch."""

    number: int
    tokens: tuple[int, ...]
    followups: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Branch:
    """Follow-ups after the first `length` tokens of a chain; `context` numbers the context in its batch."""

    context: int
    length: int
    followups: tuple[tuple[int, ...], ...]

    @property
    def tree(self) -> FollowupTree:
        return build_tree(self.followups)


@dataclass(frozen=True)
class Unit:
    """A chain of tokens that is computed at once with its branches, of which the first is the longest.

    `chain_likelihood`: whether the likelihood of the chain itself is asked for.
    """

    chain: tuple[int, ...]
    branches: tuple[Branch, ...]
    chain_likelihood: bool

    @property
    def tokens(self) -> int:
        """The tokens that are computed."""
        return len(self.chain) + sum(len(branch.tree) for branch in self.branches)

    def halves(self) -> "tuple[Unit, Unit] | None":
        """Return two units that together give the same; None where one follow-up is left."""
        if len(self.branches) > 1:
            half = len(self.branches) // 2
            return self._of(self.branches[:half]), self._of(self.branches[half:])
        (branch,) = self.branches
        half = len(branch.followups) // 2
        if half == 0:
            return None
        first, second = branch.followups[:half], branch.followups[half:]
        return self._of((replace(branch, followups=first),)), self._of((replace(branch, followups=second),))

    def _of(self, branches: tuple[Branch, ...]) -> "Unit":
        return Unit(self.chain[: branches[0].length], branches, self.chain_likelihood)


@dataclass
class LogProbabilities:
    """What was computed of one context: the sum over its own tokens, and the tokens of each follow-up, float64."""

    context: float | None
    followups: list[NDArray[np.float64]]


def chained(contexts: Sequence[Context], *, likelihood: bool) -> list[Unit]:
    """Make units of contexts: a context that is the start of another one is part of its chain."""
    chains: list[tuple[tuple[int, ...], list[Branch]]] = []
    for context in sorted(contexts, key=lambda each: len(each.tokens), reverse=True):
        length = len(context.tokens)
        found = next((branches for chain, branches in chains if chain[:length] == context.tokens), None)
        if found is None:
            found = []
            chains.append((context.tokens, found))
        found.append(Branch(context.number, length, context.followups))
    return [Unit(chain, tuple(branches), likelihood) for chain, branches in chains]


def passes(units: Sequence[Unit], max_tokens: int) -> list[list[Unit]]:
    """Cut units into passes of at most so many tokens.

    A unit with a chain of more than half of that has a pass of its own, of at most twice its chain: where chains are
    long, to compute them again for each part would cost more than it spares.
    """
    made: list[list[Unit]] = []
    room = 0
    for unit in _small(units, max_tokens):
        if unit.tokens > room:
            made.append([])
            room = max_tokens
        made[-1].append(unit)
        room -= unit.tokens
    return made


def _small(units: Sequence[Unit], max_tokens: int) -> list[Unit]:
    small: list[Unit] = []
    for unit in units:
        halves = unit.halves() if unit.tokens > max(max_tokens, 2 * len(unit.chain)) else None
        small += _small(halves, max_tokens) if halves else [unit]
    return small
