"""The levels of confidence and of significance, and the powers of a test, that can be asked for.

A level of 1e-16 leaves no room for a quantile, and one of 1 - 1e-17 is 1 in double precision: both would divide by 0.
"""

from typing import Final

MIN_LEVEL: Final = 1e-6
MAX_LEVEL: Final = 1 - MIN_LEVEL
EVERY_LEVEL: Final = f"from {MIN_LEVEL:.6f} to {MAX_LEVEL:.6f}"
