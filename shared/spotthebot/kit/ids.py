"""Time-ordered ids: UUID version 7 (RFC 9562). The order of a primary key is the order in which its rows were made."""

import os
import time
from datetime import UTC, datetime
from uuid import UUID


def new_id() -> UUID:
    """Make a UUIDv7: 48 bits of milliseconds since 1970, 12 bits of 4096ths of a millisecond, and 62 random bits.

    The ids of one process sort in the order in which they are made, even within a millisecond (RFC 9562, section 6.2,
    method 3). This holds as long as the clock is not set back.
    """
    milliseconds, nanoseconds = divmod(time.time_ns(), 1_000_000)
    fraction = (nanoseconds << 12) // 1_000_000
    random_bits = int.from_bytes(os.urandom(8), "big") & (1 << 62) - 1
    return UUID(int=milliseconds << 80 | 0x7 << 76 | fraction << 64 | 0b10 << 62 | random_bits)


def first_id_at(moment: datetime) -> UUID:
    """Return an id that sorts before all ids that are made in this millisecond or later, and after all earlier ids."""
    milliseconds = max(0, int(moment.timestamp() * 1000))
    return UUID(int=milliseconds << 80)


def made_at(made: UUID) -> datetime:
    """Return when a UUIDv7 was made, to the millisecond.

    >>> made_at(UUID("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")).isoformat()  # RFC 9562, appendix A.6
    '2022-02-22T19:22:22+00:00'
    """
    return datetime.fromtimestamp((made.int >> 80) / 1000, UTC)


def new_ids(count: int) -> list[UUID]:
    """Make `count` ids. They sort in the order in which they are returned, even within one millisecond."""
    return sorted(new_id() for _ in range(count))
