"""The units of computation: a chain of tokens, and follow-ups that branch off after some of its tokens."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .trees import FollowupTree, build_tree


@dataclass(frozen=True)
class Context:
    """The tokens of a context and of its follow-ups; `number` identifies the context in its batch."""

    number: int
    tokens: tuple[int, ...]
    followups: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Branch:
    """Follow-ups after the first `length` tokens of a chain. `context` is the number of their context in its batch."""

    context: int
    length: int
    followups: tuple[tuple[int, ...], ...]

    @property
    def tree(self) -> FollowupTree:
        return build_tree(self.followups)


@dataclass(frozen=True)
class Unit:
    """A chain of tokens that is computed at once, together with its branches.

    The first branch is after the longest context.

    `chain_likelihood` tells whether the likelihood of the chain itself is requested.
    """

    chain: tuple[int, ...]
    branches: tuple[Branch, ...]
    chain_likelihood: bool

    @property
    def tokens(self) -> int:
        """Return the number of tokens to compute."""
        return len(self.chain) + sum(len(branch.tree) for branch in self.branches)

    def halves(self) -> "tuple[Unit, Unit] | None":
        """Return two units, each with half of the branches or follow-ups; None if only one follow-up is left."""
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
    """The log-probabilities of one context, float64: the sum over its own tokens, and each token of each follow-up."""

    context: float | None
    followups: list[NDArray[np.float64]]


def chained(contexts: Sequence[Context], *, likelihood: bool) -> list[Unit]:
    """Make units from contexts. If one context is the start of another context, both share a chain."""
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
    """Divide units into passes of at most `max_tokens` tokens.

    A unit whose chain is longer than half of `max_tokens` may have a larger pass, of at most twice the chain's length.
    Smaller passes would compute the long chain again for each part, which costs more than they save.
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
