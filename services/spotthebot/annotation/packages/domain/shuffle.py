"""Random draws that only the holder of a campaign's secret can repeat."""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import TypeVar

T = TypeVar("T")


class Shuffle:
    """Permutations that only the holder of the secret can repeat: sorted by a keyed hash (BLAKE2b, RFC 7693)."""

    def __init__(self, secret: bytes, seed: int) -> None:
        self._key = blake2b(str(seed).encode(), key=secret, digest_size=32).digest()

    def __call__(self, purpose: str, things: Iterable[T]) -> list[T]:
        listed = list(things)
        tags = [
            blake2b(f"{purpose}/{number}".encode(), key=self._key, digest_size=16).digest()
            for number in range(len(listed))
        ]
        return [listed[number] for number in sorted(range(len(listed)), key=tags.__getitem__)]

    def rotate(self, purpose: str, things: Sequence[T]) -> list[T]:
        """Rotate the sequence to begin with a drawn element."""
        start = self.number(purpose, len(things))
        return [*things[start:], *things[:start]]

    def number(self, purpose: str, below: int) -> int:
        """Draw a number from 0 up to, not including, `below`; 128 bits make all numbers equally likely."""
        return int.from_bytes(blake2b(purpose.encode(), key=self._key, digest_size=16).digest()) % below
