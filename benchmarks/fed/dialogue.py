"""A dialogue of five turns with follow-ups after each, in one pass, against a packed context for each turn."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from benchmarks.bots.measurement import Measurement
from benchmarks.fed.clocks import interleaved
from benchmarks.fed.floor import operations
from benchmarks.fed.material import (
    FOLLOWUPS,
    NEGATIVES,
    SIZES,
    TOY_SIZES,
    context_lengths,
    dialogue,
    random_model,
    request,
    scorer,
)
from spotthebot.inference.models.batch import run_batch

TURNS = 5
ENDS = tuple(range(1, TURNS + 1))
SETS = (("all 18 dimensions", FOLLOWUPS, 1.2), ("9 negatives", NEGATIVES[:9], 1.8))
TOY = {"SIZES": TOY_SIZES}


def measure(*, threads: Sequence[int], lengths: Sequence[int]) -> Iterator[Measurement]:
    """Measure dialogues of some lengths on some numbers of threads."""
    ours = scorer(random_model(SIZES[0]))
    for count in threads:
        for length in lengths:
            turns = dialogue(length, TURNS)
            for name, followups, goal in SETS:
                whole = request(turns, ends=ENDS, followups=followups)
                apart = [request(turns[:end], followups=followups) for end in ENDS]
                ways: list[Callable[[], object]] = [partial(run_batch, ours, [whole]), partial(run_batch, ours, apart)]
                seconds, each = interleaved(ways, rounds=3, threads=count)
                ends = context_lengths(turns)
                least = operations(SIZES[0], length, followups=followups, ends=ends)
                least_apart = sum(operations(SIZES[0], end, followups=followups) for end in ends)
                yield Measurement(
                    work=f"{TURNS} turns of {length} tokens in all, {name}, threads: {count}",
                    ours=f"{seconds:.2f} s",
                    compared=f"a context for each turn: {each:.2f} s",
                    result=f"{each / seconds:.2f}x, where {least_apart / least:.2f}x fewer operations are needed",
                    goal=f">= {goal}x",
                    reached=each / seconds >= goal,
                )
