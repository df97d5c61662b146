"""One context with all follow-ups, against the time that its floating-point operations alone would take."""

from collections.abc import Callable, Sequence
from functools import partial

from benchmarks.bots.measurement import Measurement
from benchmarks.fed.clocks import interleaved, matrix_rate
from benchmarks.fed.material import SIZES, VOCABULARY, Size, dialogue, followup_tokens, random_model, request, scorer
from spotthebot.inference.models.batch import run_batch
from spotthebot.inference.models.likelihood.trees import build_tree

GOAL = 1.6
_TURNS = 4


def measure(*, threads: Sequence[int], lengths: Sequence[int]) -> list[Measurement]:
    """Measure contexts of some lengths, in both modes, on some numbers of threads."""
    ours = scorer(random_model(SIZES[0]))
    rows = []
    for count in threads:
        rate = matrix_rate(512, threads=count)
        for length in lengths:
            turns = dialogue(length, _TURNS)
            ways: list[Callable[[], object]] = [
                partial(run_batch, ours, [request(turns, whole=whole)]) for whole in (True, False)
            ]
            whole, followups = interleaved(ways, rounds=3, threads=count)
            for mode, seconds in (("whole sequence", whole), ("follow-ups", followups)):
                least = operations(SIZES[0], length, whole=seconds is whole) / rate
                rows.append(
                    Measurement(
                        work=f"{length} tokens, all 18 dimensions, {mode}, threads: {count}",
                        ours=f"{seconds:.2f} s",
                        compared=f"operations alone: {least:.2f} s at {rate / 1e9:.0f} GFLOP/s",
                        result=f"{seconds / least:.2f}x",
                        goal=f"<= {GOAL}x",
                        reached=seconds / least <= GOAL,
                    )
                )
    return rows


def operations(size: Size, length: int, *, whole: bool) -> float:
    """Return the floating-point operations of one context with all follow-ups.

    Tokens that only end follow-ups need none, and the layer of the vocabulary is for tokens that predict one. Attention
    multiplies queries with keys, and weights with values, as far as its mask allows.
    """
    tree = build_tree(followup_tokens())
    computed = length + len(tree)
    predicting = len(tree) + (length if whole else 1)
    seen = length * (length + 1) / 2 + len(tree) * length + float(tree.visible.sum())
    layers = 2 * 12 * size.layers * size.width**2 * computed
    return layers + 2 * size.width * VOCABULARY * predicting + 4 * size.width * size.layers * seen
