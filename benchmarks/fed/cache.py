"""The likelihoods of all follow-ups after a context, against the reuse of its keys and values that transformers offers.

The context is read once into a cache. Then each follow-up is read with a copy of it, or all at once, padded, with as
many copies; the faster way of the two is compared.
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import torch

from benchmarks.bots.measurement import Measurement
from benchmarks.fed.clocks import interleaved
from benchmarks.fed.material import (
    FOLLOWUPS,
    SIZES,
    TOY_SIZES,
    context_text,
    dialogue,
    random_model,
    request,
    scorer,
    tokenizer,
    tokens_of,
)
from spotthebot.inference.models.batch import run_batch

GOALS = {512: 2.0}
_TURNS = 4
TOY = {"SIZES": TOY_SIZES}


@torch.inference_mode()
def one_by_one(model: Any, turns: Sequence[str]) -> list[float]:  # noqa: ANN401 - transformers' own
    """Return the negative log-likelihood of each follow-up, each read with a copy of the context's cache."""
    first, cache = _read(model, turns)
    found = []
    for ids in tokens_of(FOLLOWUPS):
        rows = torch.tensor([ids[:-1]])
        logits = model(rows, past_key_values=copy.deepcopy(cache)).logits[0] if len(ids) > 1 else first[:0]
        scores = torch.cat([first, logits]).log_softmax(-1)
        found.append(-float(scores.gather(1, torch.tensor(ids)[:, None]).sum()))
    return found


@torch.inference_mode()
def all_at_once(model: Any, turns: Sequence[str]) -> list[float]:  # noqa: ANN401 - transformers' own
    """Return the negative log-likelihood of each follow-up, read together with as many copies of the cache."""
    first, cache = _read(model, turns)
    followups = tokens_of(FOLLOWUPS)
    width = max(map(len, followups))
    rows = torch.tensor([[*ids, *[0] * (width - len(ids))] for ids in followups])
    used = torch.tensor([[1.0] * len(ids) + [0.0] * (width - len(ids)) for ids in followups])
    cache.batch_repeat_interleave(len(followups))
    logits = model(rows[:, :-1], past_key_values=cache).logits
    scores = torch.cat([first.expand(len(rows), 1, -1), logits], dim=1).log_softmax(-1)
    return [-float(score) for score in (scores.gather(2, rows[:, :, None])[:, :, 0] * used).sum(1)]


def measure(*, threads: Sequence[int], lengths: Sequence[int]) -> Iterator[Measurement]:
    """Measure contexts of some lengths on some numbers of threads."""
    theirs, ours = random_model(SIZES[0]), scorer(random_model(SIZES[0]))
    for count in threads:
        for length in lengths:
            turns = dialogue(length, _TURNS)
            ways: list[Callable[[], object]] = [
                partial(run_batch, ours, [request(turns)]),
                partial(one_by_one, theirs, turns),
                partial(all_at_once, theirs, turns),
            ]
            seconds, single, together = interleaved(ways, rounds=3, threads=count)
            ratio = min(single, together) / seconds
            yield Measurement(
                work=f"{length} tokens, all follow-ups, threads: {count}",
                ours=f"{seconds:.2f} s",
                compared=f"a copy of the cache for each: {single:.2f} s, all at once: {together:.2f} s",
                result=f"{ratio:.1f}x",
                goal=f">= {GOALS[length]:.0f}x" if length in GOALS else "-",
                reached=ratio >= GOALS[length] if length in GOALS else None,
            )


def _read(model: Any, turns: Sequence[str]) -> tuple[torch.Tensor, Any]:  # noqa: ANN401 - transformers' own
    """Return the logits of the first token of a follow-up, and the context's cache."""
    ids = torch.tensor([tokenizer()(context_text(turns))["input_ids"]])
    output = model(ids, use_cache=True, logits_to_keep=1)
    return output.logits[0], output.past_key_values
