"""Time-ordered identifiers: UUID version 7 (RFC 9562), so that a primary key's order is the order of creation."""

import os
import time
from datetime import datetime
from uuid import UUID


def new_id() -> UUID:
    """Make a UUIDv7: 48 bits of milliseconds since the epoch, 12 bits of a millisecond's 4096ths, then 62 random bits.

    A process's identifiers sort in the order they are made, within a millisecond as well (RFC 9562, section 6.2,
    method 3), as long as its clock is not set back.
    """
    milliseconds, nanoseconds = divmod(time.time_ns(), 1_000_000)
    fraction = (nanoseconds << 12) // 1_000_000
    random_bits = int.from_bytes(os.urandom(8), "big") & (1 << 62) - 1
    return UUID(int=milliseconds << 80 | 0x7 << 76 | fraction << 64 | 0b10 << 62 | random_bits)


def first_id_at(moment: datetime) -> UUID:
    """Return an identifier below all that are made from this millisecond on, and above all before it."""
    milliseconds = max(0, int(moment.timestamp() * 1000))
    return UUID(int=milliseconds << 80)


def new_ids(count: int) -> list[UUID]:
    """Make `count` identifiers that sort in the order they are returned, even within one millisecond."""
    return sorted(new_id() for _ in range(count))
