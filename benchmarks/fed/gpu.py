"""GPT-2 of three sizes in bfloat16 on a GPU: contexts a second, the share of its matrix peak, the released code's way.

By hand, where there is no GPU, to see that it runs: `python -m benchmarks.fed.gpu --device cpu --size "124 M"`.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial

import torch

from benchmarks.bots.measurement import Measurement
from benchmarks.fed.floor import operations
from benchmarks.fed.material import SIZES, TOY_SIZES, Size, dialogue, random_model, request, scorer
from benchmarks.fed.released import released
from spotthebot.inference.models.batch import run_batch
from spotthebot.inference.models.likelihood.limits import Limits

DEVICE = "cuda"
LENGTH, TURNS, ROUNDS = 512, 4, 5
CONTEXTS = 32
_LIMITS = Limits(max_tokens_per_pass=32_768, max_logit_bytes=2**30)
_SHARE, _SHARE_FROM, _RATIO = 0.4, ("345 M", "1.5 B"), 100
_MATRIX = {"cuda": 8192, "cpu": 1024}
TOY = {"DEVICE": "cpu", "SIZES": TOY_SIZES, "LENGTH": 32, "ROUNDS": 1, "CONTEXTS": 2, "_MATRIX": {"cpu": 16}}


def measure(*, threads: Sequence[int], lengths: Sequence[int]) -> list[Measurement]:  # noqa: ARG001 - as all rows are measured
    """Measure on CUDA where there is a device."""
    if DEVICE == "cuda" and not torch.cuda.is_available():
        work = "GPT-2 of 124 M, 345 M and 1.5 B in bfloat16"
        return [Measurement(work=work, ours="-", compared="-", result="no GPU here")]
    return measure_on(DEVICE, SIZES)


def measure_on(device: str, sizes: Sequence[Size]) -> list[Measurement]:
    """Measure models of some sizes on a device, contexts in one batch, in both modes."""
    peak = _matrix_peak(device)
    return [row for size in sizes for row in _measure(size, device, peak)]


def _measure(size: Size, device: str, peak: float) -> list[Measurement]:
    theirs = random_model(size, device=device, dtype=torch.bfloat16)
    ours = scorer(random_model(size, device=device, dtype=torch.bfloat16), _LIMITS)
    naive = _seconds(partial(released, theirs, dialogue(LENGTH, TURNS)), device, rounds=1)
    rows = []
    for mode, whole in (("whole sequence", True), ("follow-ups", False)):
        batch = [request(dialogue(LENGTH, TURNS, seed=seed), whole=whole) for seed in range(CONTEXTS)]
        if any("error" in answer for answer in run_batch(ours, batch)):
            raise RuntimeError(json.dumps(run_batch(ours, batch[:1]))[:200])
        seconds = _seconds(partial(run_batch, ours, batch), device, rounds=ROUNDS) / CONTEXTS
        share = operations(size, LENGTH, whole=whole) / seconds / peak
        has_goal = size.name in _SHARE_FROM
        name = torch.cuda.get_device_name() if device.startswith("cuda") else device
        rows.append(
            Measurement(
                work=f"GPT-2 of {size.name} in bfloat16 on {name}, {CONTEXTS} contexts of {LENGTH} tokens, {mode}",
                ours=f"{1 / seconds:.1f} contexts/s, {share:.0%} of {peak / 1e12:.0f} TFLOP/s",
                compared=f"73 passes: {1 / naive:.2f} contexts/s",
                result=f"{naive / seconds:.0f}x",
                goal=f">= {_SHARE:.0%}, >= {_RATIO}x" if has_goal else f">= {_RATIO}x",
                reached=naive / seconds >= _RATIO and (share >= _SHARE or not has_goal),
            )
        )
    return rows


def _seconds(way: Callable[[], object], device: str, *, rounds: int) -> float:
    way()
    taken = []
    for _ in range(rounds):
        _wait_for(device)
        start = time.perf_counter()
        way()
        _wait_for(device)
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def _matrix_peak(device: str) -> float:
    """Return the floating-point operations a second of a large product in bfloat16, the best of some."""
    size = _MATRIX[device.partition(":")[0]]
    left, right = (torch.randn(size, size, device=device, dtype=torch.bfloat16) for _ in range(2))
    best = min(_seconds(partial(torch.mm, left, right), device, rounds=1) for _ in range(20))
    return 2 * size**3 / best


def _wait_for(device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize(device)


def _main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fed.gpu")
    parser.add_argument("--device", default=DEVICE)
    parser.add_argument(
        "--size", nargs="+", choices=[size.name for size in SIZES], default=[size.name for size in SIZES]
    )
    arguments = parser.parse_args()
    for row in measure_on(arguments.device, [size for size in SIZES if size.name in arguments.size]):
        print(" | ".join(row.cells()))  # noqa: T201 - the rows are the output


if __name__ == "__main__":
    _main()
