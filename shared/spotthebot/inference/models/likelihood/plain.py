"""The plain path: runs the model on each follow-up with its whole context.

It is slow; the packed path is tested with it.
"""

import inspect
from typing import Any

import torch

from .units import Branch, LogProbabilities, Unit


class PlainPath:
    """Runs any causal model of transformers, one sequence at a time, so that no result depends on other sequences."""

    name = "plain"

    def __init__(self, model: Any) -> None:  # noqa: ANN401 - transformers' classes are many
        self._model = model
        self._keeps_logits = "logits_to_keep" in inspect.signature(model.forward).parameters

    def run(self, units: list[Unit]) -> list[LogProbabilities]:
        """Return the log-probabilities of each branch of each unit, in order."""
        return [self._branch(unit, branch) for unit in units for branch in unit.branches]

    def _branch(self, unit: Unit, branch: Branch) -> LogProbabilities:
        context = unit.chain[: branch.length]
        found = LogProbabilities(None, [])
        for followup in branch.followups:
            asks_context = unit.chain_likelihood and found.context is None
            scores = self._scores([*context, *followup], None if asks_context else len(followup))
            if asks_context:
                found.context = float(scores[: len(context) - 1].sum())
            found.followups.append(scores[-len(followup) :].numpy())
        return found

    def _scores(self, ids: list[int], last: int | None) -> torch.Tensor:
        """Return the float64 log-probabilities of the last `last` tokens.

        If `last` is None, return the log-probabilities of all tokens but the first.
        """
        given = torch.tensor([ids], device=self._model.device)
        options = {"logits_to_keep": last + 1} if last is not None and self._keeps_logits else {}
        logits = self._model(input_ids=given, use_cache=False, **options).logits[0]
        targets = given[0, 1:] if last is None else given[0, -last:]
        logits = logits[-len(targets) - 1 : -1].float()
        scores: torch.Tensor = logits.gather(1, targets[:, None])[:, 0] - logits.logsumexp(1)
        return scores.double().cpu()
