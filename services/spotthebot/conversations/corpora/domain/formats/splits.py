"""Draws a split for each dialogue of a file without splits: by a hash, so that a repeat draws the same split."""

import hashlib
import math
import re
from dataclasses import dataclass

from spotthebot.conversations.corpora.errors import BadShares

_SHARE = re.compile(r"([a-z][a-z0-9_-]{0,49}):(0?\.\d{1,9}|[01](?:\.0*)?)")


@dataclass(frozen=True)
class Shares:
    """Splits and their shares, which sum to one."""

    shares: tuple[tuple[str, float], ...]

    def split_of(self, key: str) -> str:
        """Return the split of a dialogue, drawn by a hash of its key, so that every repeat draws the same split."""
        digest = hashlib.sha256(f"split/{key}".encode()).digest()
        point, upper = int.from_bytes(digest[:8], "big") / 2**64, 0.0
        for name, share in self.shares:
            upper += share
            if point < upper:
                return name
        return self.shares[-1][0]


def shares_of(text: str) -> Shares:
    """Parse `train:0.8,openings:0.2`; raises BadShares."""
    found = [_SHARE.fullmatch(part.strip()) for part in text.split(",")]
    shares = tuple((match[1], float(match[2])) for match in found if match)
    names = {name for name, _ in shares}
    if (
        not all(found)
        or len(names) < len(found)
        or not math.isclose(sum(share for _, share in shares), 1, abs_tol=1e-6)
    ):
        raise BadShares(splits=text[:200])
    return Shares(shares)
