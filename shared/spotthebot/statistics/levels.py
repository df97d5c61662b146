"""The levels of confidence and significance, and the powers of a test, that callers may choose.

A level of 1e-16 is too small for a quantile. A level of 1 - 1e-17 is equal to 1 in double precision. Both would cause a
division by 0.
"""

from numbers import Real
from typing import Final

MIN_LEVEL: Final = 1e-6
MAX_LEVEL: Final = 1 - MIN_LEVEL
EVERY_LEVEL: Final = f"from {MIN_LEVEL:.6f} to {MAX_LEVEL:.6f}"


def is_level(value: object) -> bool:
    """Return whether the value is a level that callers may choose.

    >>> is_level(0.95), is_level(1), is_level(1e-16), is_level("0.95"), is_level(None)
    (True, False, False, False, False)
    """
    return isinstance(value, Real) and MIN_LEVEL <= float(value) <= MAX_LEVEL
