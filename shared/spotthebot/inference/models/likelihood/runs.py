"""Runs units pass by pass within limits of memory. If memory runs out, it continues with smaller passes."""

from collections import deque
from collections.abc import Sequence

import torch

from .limits import Limits
from .paths import LikelihoodPath
from .units import LogProbabilities, Unit, passes

_CPU_OUT_OF_MEMORY = "can't allocate memory"


class Runs:
    """Computes the log-probabilities of units, all on the same path of a model."""

    def __init__(self, path: LikelihoodPath, limits: Limits) -> None:
        self._path = path
        self._max_tokens = limits.max_tokens_per_pass

    def run(self, groups: Sequence[Sequence[Unit]], *, contexts: int) -> list[LogProbabilities | str]:
        """Return for each context, by its number, its log-probabilities, or the reason if memory is too small for it.

        Units of different groups are never in one pass. A pass that runs out of memory is halved, and later calls start
        with passes of that size.
        """
        found: list[LogProbabilities | str] = [LogProbabilities(None, []) for _ in range(contexts)]
        waiting = deque(each for group in groups for each in passes(group, self._max_tokens))
        while waiting:
            units_of_pass = waiting.popleft()
            computed = self._attempt(units_of_pass)
            if computed is not None:
                _collect(found, units_of_pass, computed)
                continue
            tokens = sum(unit.tokens for unit in units_of_pass)
            halves = _halves(units_of_pass)
            if halves is None:
                (unit,) = units_of_pass
                reason = f"the model runs out of memory on a context of {len(unit.chain):,} tokens with one follow-up"
                for branch in unit.branches:
                    found[branch.context] = reason
                continue
            self._max_tokens = max(1, min(self._max_tokens, tokens // 2))
            waiting.extendleft(reversed(halves))
        return found

    def _attempt(self, units: list[Unit]) -> list[LogProbabilities] | None:
        """Return the log-probabilities of the units; None if memory was too small."""
        try:
            return self._path.run(units)
        except (torch.OutOfMemoryError, RuntimeError) as error:
            if not (isinstance(error, torch.OutOfMemoryError) or _CPU_OUT_OF_MEMORY in str(error)):
                raise
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        return None


def _collect(found: list[LogProbabilities | str], units: Sequence[Unit], computed: Sequence[LogProbabilities]) -> None:
    """Add the log-probabilities of each branch's follow-ups to its context.

    The parts of a halved branch arrive in order.
    """
    branches = [branch for unit in units for branch in unit.branches]
    for branch, scores in zip(branches, computed, strict=True):
        context = found[branch.context]
        if isinstance(context, LogProbabilities):
            context.context = scores.context
            context.followups += scores.followups


def _halves(units: list[Unit]) -> tuple[list[Unit], list[Unit]] | None:
    if len(units) > 1:
        half = len(units) // 2
        return units[:half], units[half:]
    halves = units[0].halves()
    return ([halves[0]], [halves[1]]) if halves else None
