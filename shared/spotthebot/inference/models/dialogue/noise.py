"""Random numbers that depend only on a request: they are the same on every device, in every batch and in every row."""

import hashlib
from collections.abc import Sequence

import torch

_GAMMA, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def gumbel_noise(seeds: Sequence[int], step: int, width: int, device: torch.device) -> torch.Tensor:
    """Return standard Gumbel noise, float64 of shape [seeds, width]. Each row depends only on its seed and on `step`.

    The argmax of logits plus this noise is a draw from the logits' softmax (Gumbel 1954; Maddison, Tarlow and Minka
    2014). The noise is made from random integers: the generator SplitMix64 (Steele, Lea and Flood 2014) makes them,
    started at a hash of seed and step. Integer arithmetic is the same on every device. Logarithms are computed in
    float32, which is four times as fast as float64. Only large noise decides a draw. It comes from logarithms of
    numbers near 0, where float32 is most exact.
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
    """Shift the bits of an unsigned number to the right. Torch's own shift treats it as signed and repeats the sign."""
    return (value >> bits).bitwise_and_((1 << (64 - bits)) - 1)


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value
