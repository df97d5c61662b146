"""All 18 dimensions of FED after a context, against the released code's way: a forward pass for each follow-up."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import torch

from benchmarks.bots.measurement import Measurement
from benchmarks.fed.clocks import interleaved
from benchmarks.fed.material import SIZES, TOY_SIZES, context_text, dialogue, random_model, request, scorer, tokenizer
from spotthebot.fed.dimension_sets.domain.published_dimensions import FED
from spotthebot.inference.models.batch import run_batch

GOALS = {32: 8, 128: 20, 512: 45}
FOLLOWUP_GOALS = {512: 60}
TURNS = 4
_LONG = 256
"""Tokens from which one round of 73 passes takes long enough to be measured once."""
TOY = {"SIZES": TOY_SIZES, "_LONG": 0}


def released(model: Any, turns: Sequence[str]) -> dict[str, float]:  # noqa: ANN401 - transformers' own
    """Return FED's scores by a pass for each follow-up with the tokens as labels, without gradients as there."""

    def loss(followup: str) -> float:
        ids = torch.tensor([tokenizer()(f"{context_text(turns)} {followup}")["input_ids"]], device=model.device)
        with torch.no_grad():
            return float(model(ids, labels=ids).loss)

    scores = {}
    for each in FED.dimensions:
        high = sum(loss(text) for text in each.positive) / max(len(each.positive), 1)
        low = sum(loss(text) for text in each.negative) / max(len(each.negative), 1)
        scores[each.name] = low - high
    return scores


def measure(*, threads: Sequence[int], lengths: Sequence[int]) -> Iterator[Measurement]:
    """Measure contexts of some lengths, in both modes, on some numbers of threads."""
    theirs, ours = random_model(SIZES[0]), scorer(random_model(SIZES[0]))
    for count in threads:
        for length in lengths:
            turns = dialogue(length, TURNS)
            ways: list[Callable[[], object]] = [
                partial(run_batch, ours, [request(turns, whole=True)]),
                partial(run_batch, ours, [request(turns)]),
                partial(released, theirs, turns),
            ]
            whole, followups, passes = interleaved(ways, rounds=1 if length > _LONG else 3, threads=count)
            for mode, seconds, goal in (("whole sequence", whole, GOALS), ("follow-ups", followups, FOLLOWUP_GOALS)):
                yield Measurement(
                    work=f"{length} tokens, all 18 dimensions, {mode}, threads: {count}",
                    ours=f"{seconds:.2f} s",
                    compared=f"73 passes: {passes:.1f} s",
                    result=f"{passes / seconds:.1f}x",
                    goal=f">= {goal[length]}x" if length in goal else "-",
                    reached=passes / seconds >= goal[length] if length in goal else None,
                )
