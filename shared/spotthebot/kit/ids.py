"""Time-ordered identifiers: UUID version 7 (RFC 9562), so that a primary key's order is the order of creation."""

import os
import time
from datetime import datetime
from uuid import UUID


def new_id() -> UUID:
    """Make a UUIDv7: 48 bits of milliseconds since the epoch, then 74 random bits."""
    milliseconds = time.time_ns() // 1_000_000
    random_bits = int.from_bytes(os.urandom(10), "big")
    value = milliseconds << 80 | 0x7 << 76 | random_bits >> 68 << 64
    return UUID(int=value | 0b10 << 62 | random_bits & (1 << 62) - 1)


def first_id_at(moment: datetime) -> UUID:
    """Return an identifier below all that are made from this millisecond on, and above all before it."""
    milliseconds = max(0, int(moment.timestamp() * 1000))
    return UUID(int=milliseconds << 80)


def new_ids(count: int) -> list[UUID]:
    """Make `count` identifiers that sort in the order they are returned, even within one millisecond."""
    return sorted(new_id() for _ in range(count))
