"""Times of ways to do the same, measured in turn, so that other programs of the machine slow down all of them alike."""

import statistics
import time
from collections.abc import Callable, Sequence

import torch


def interleaved(ways: Sequence[Callable[[], object]], *, rounds: int, threads: int) -> list[float]:
    """Return the median seconds of each way over some rounds, each of which runs every way once.

    With one thread, of processor time, which a busy machine changes little; with more, of the clock.
    """
    torch.set_num_threads(threads)
    clock = time.process_time if threads == 1 else time.perf_counter
    ways[0]()
    seconds: list[list[float]] = [[] for _ in ways]
    for _ in range(rounds):
        for way, taken in zip(ways, seconds, strict=True):
            start = clock()
            way()
            taken.append(clock() - start)
    return [statistics.median(taken) for taken in seconds]


def matrix_rate(rows: int, *, threads: int) -> float:
    """Return the floating-point operations a second of a product as those of GPT-2, the best of some."""
    torch.set_num_threads(threads)
    clock = time.process_time if threads == 1 else time.perf_counter
    left, right = torch.randn(rows, 768), torch.randn(768, 3072)
    best = float("inf")
    for _ in range(30):
        start = clock()
        torch.mm(left, right)
        best = min(best, clock() - start)
    return 2 * rows * 768 * 3072 / best
