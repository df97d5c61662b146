"""Random numbers that depend on a request alone: the same on every device, in every batch, in every row of it."""

import hashlib
from collections.abc import Sequence

import torch

_GAMMA, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def gumbel_noise(seeds: Sequence[int], step: int, width: int, device: torch.device) -> torch.Tensor:
    """Return standard Gumbel noise, float64 of shape [seeds, width]: a row is a function of its seed and the step.

    The largest of logits plus such noise is a draw from their softmax (Gumbel 1954; Maddison, Tarlow and Minka 2014).
    The integers are the stream of SplitMix64 (Steele, Lea and Flood 2014), started at a hash of seed and
    step; integer arithmetic is the same on every device. Logarithms are those of float32, four times as fast: they are
    taken of numbers near 0 where noise is large, which is where it decides and where float32 is most exact.
    """
    starts = torch.tensor([_start(seed, step) for seed in seeds], dtype=torch.int64, device=device)
    uniform = _shifted(_split_mix(starts, width), 12).double().add_(0.5).mul_(2.0**-52).float().clamp_(max=1 - 2.0**-24)
    return uniform.neg_().log1p_().neg_().log_().neg_().double()


def _start(seed: int, step: int) -> int:
    digest = hashlib.blake2b(f"{seed}/{step}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def _split_mix(starts: torch.Tensor, width: int) -> torch.Tensor:
    counts = torch.arange(1, width + 1, dtype=torch.int64, device=starts.device)
    mixed = starts[:, None] + counts[None, :] * _signed(_GAMMA)
    mixed = mixed.bitwise_xor_(_shifted(mixed, 30)).mul_(_signed(_FIRST))
    mixed = mixed.bitwise_xor_(_shifted(mixed, 27)).mul_(_signed(_SECOND))
    return mixed.bitwise_xor_(_shifted(mixed, 31))


def _shifted(value: torch.Tensor, bits: int) -> torch.Tensor:
    """Shift right as an unsigned number; torch's own shift repeats the sign."""
    return (value >> bits).bitwise_and_((1 << (64 - bits)) - 1)


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value
