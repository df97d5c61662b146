"""Tokens a second of a 124 M and a 345 M GPT-2 in bfloat16, against what the memory's bandwidth allows.

By hand, on another device: `python -m benchmarks.bots.gpu --device cpu --size tiny`. Each step reads all weights and
the keys and values of all rows so far; the bound is those bytes over the bandwidth that a large copy reaches in the
same run (it reads and writes). What is measured is whole replies: tokenizing, prompt, sampling, decoding.
"""

import argparse
import itertools
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import torch

from benchmarks.bots.measurement import Measurement
from benchmarks.bots.random_gpt2 import SENTENCES, SIZES, Size, count_tokens, make_gpt2
from spotthebot.inference.models.dialogue.kind import load
from spotthebot.inference.models.dialogue.protocol import DialogueModel
from spotthebot.inference.models.dialogue.requests import GenerationRequest

DEVICE, MODELS = "cuda", ("124 M", "345 M")
BATCHES = (1, 8, 32, 128)
NEW_TOKENS, REPEATS = 128, 3
_TURNS = 4
_COPIED_BYTES = {"cuda": 4 * 2**30, "cpu": 2**28}
_POSITIONS = 1024
_BYTES = 2
"""Of one number in bfloat16."""
TOY = {
    "DEVICE": "cpu",
    "MODELS": ("tiny",),
    "BATCHES": (2,),
    "NEW_TOKENS": 2,
    "REPEATS": 1,
    "_COPIED_BYTES": {"cpu": 2**10},
}


def measure() -> list[Measurement]:
    """Measure on CUDA where there is a device."""
    if DEVICE == "cuda" and not torch.cuda.is_available():
        return [Measurement(work="GPT-2 of 124 M and 345 M in bfloat16", ours="-", compared="-", result="no GPU here")]
    return measure_on(DEVICE, [SIZES[name] for name in MODELS])


def measure_on(device: str, sizes: Sequence[Size]) -> list[Measurement]:
    """Measure models of some sizes on a device."""
    bandwidth = _bandwidth(device)
    rows = []
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="stb-benchmark-") as folder:
            make_gpt2(Path(folder), size, dtype=torch.bfloat16, device=device)
            model = load(folder, device=device, dtype="bfloat16")
        rows += [_measure(model, size, batch, device, bandwidth) for batch in BATCHES]
    return rows


def _measure(model: DialogueModel, size: Size, batch: int, device: str, bandwidth: float) -> Measurement:
    requests = [_request(seed) for seed in range(batch)]
    model.replies(requests)
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        model.replies(requests)
        seconds.append(time.perf_counter() - start)
    rate = batch * NEW_TOKENS / statistics.median(seconds)
    bound = batch * NEW_TOKENS / (_bytes_read(model, size, batch) / bandwidth)
    name = torch.cuda.get_device_name() if device.startswith("cuda") else device
    return Measurement(
        work=f"GPT-2 of {model.description.parameters / 1e6:.0f} M in bfloat16 on {name}, {batch} at once",
        ours=f"{rate:,.0f} tokens/s",
        compared=f"bound: {bound:,.0f} tokens/s at {bandwidth / 1e9:,.0f} GB/s",
        result=f"{rate / bound:.1%} of the bound, {statistics.median(seconds) / NEW_TOKENS * 1000:.2f} ms a step",
    )


def _request(seed: int) -> GenerationRequest:
    turns = tuple(SENTENCES[(seed + at) % len(SENTENCES)] for at in range(_TURNS))
    return GenerationRequest(turns=turns, seed=seed, max_new_tokens=NEW_TOKENS)


def _bytes_read(model: DialogueModel, size: Size, batch: int) -> float:
    """Return the least that has to be read for all replies, were all rows generated together.

    Of the position embeddings next to nothing is read; the token embeddings are the output layer, too.
    """
    weights = (model.description.parameters - _POSITIONS * size.width) * _BYTES
    prompt = sum(count_tokens(_request(seed).turns) for seed in range(batch)) / batch
    a_token = 2 * size.layers * size.width * _BYTES
    return sum(weights + batch * (prompt + step) * a_token for step in range(NEW_TOKENS))


def _bandwidth(device: str) -> float:
    """Return bytes a second."""
    size = _COPIED_BYTES[device.partition(":")[0]]
    source = torch.ones(size, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    seconds = []
    for _ in range(10):
        _wait_for(device)
        start = time.perf_counter()
        target.copy_(source)
        _wait_for(device)
        seconds.append(time.perf_counter() - start)
    return 2 * size / min(seconds)


def _wait_for(device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize(device)


def _main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bots.gpu")
    parser.add_argument("--device", default=DEVICE)
    parser.add_argument("--size", nargs="+", choices=SIZES, default=[*MODELS])
    arguments = parser.parse_args()
    for row in measure_on(arguments.device, [SIZES[name] for name in arguments.size]):
        print(" | ".join(itertools.islice(row.cells(), 4)))  # noqa: T201 - the rows are the output


if __name__ == "__main__":
    _main()
