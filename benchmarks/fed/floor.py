"""One context with all follow-ups, against the time that its floating-point operations alone would take."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from benchmarks.bots.measurement import Measurement
from benchmarks.fed.clocks import interleaved, matrix_rate
from benchmarks.fed.material import (
    FOLLOWUPS,
    SIZES,
    TOY_SIZES,
    Size,
    dialogue,
    random_model,
    request,
    scorer,
    tokens_of,
)
from spotthebot.inference.models.batch import run_batch
from spotthebot.inference.models.likelihood.trees import build_tree

GOAL = 1.6
_TURNS = 4
TOY = {"SIZES": TOY_SIZES}


def measure(*, threads: Sequence[int], lengths: Sequence[int]) -> Iterator[Measurement]:
    """Measure contexts of some lengths, in both modes, on some numbers of threads."""
    ours = scorer(random_model(SIZES[0]))
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
                yield Measurement(
                    work=f"{length} tokens, all 18 dimensions, {mode}, threads: {count}",
                    ours=f"{seconds:.2f} s",
                    compared=f"operations alone: {least:.2f} s at {rate / 1e9:.0f} GFLOP/s",
                    result=f"{seconds / least:.2f}x",
                    goal=f"<= {GOAL}x",
                    reached=seconds / least <= GOAL,
                )


def operations(
    size: Size, length: int, *, whole: bool = False, followups: Sequence[str] = FOLLOWUPS, ends: Sequence[int] = ()
) -> float:
    """Return the floating-point operations of so many tokens of context with follow-ups after some, else at the end.

    Tokens that only end follow-ups need none, and the layer of the vocabulary is for tokens that predict one. Attention
    multiplies queries with keys, and weights with values, as far as its mask allows.
    """
    tree = build_tree(tokens_of(followups))
    places = ends or (length,)
    branches = len(places) * len(tree)
    predicting = branches + (length if whole else len(places))
    seen = length * (length + 1) / 2 + sum(len(tree) * end + float(tree.visible.sum()) for end in places)
    layers = 2 * 12 * size.layers * size.width**2 * (length + branches)
    return layers + 2 * size.width * size.vocabulary * predicting + 4 * size.width * size.layers * seen
