"""The levels of confidence and significance, and the powers of a test, that requests may choose.

They equal the levels of `spotthebot.statistics.levels`, which schemas cannot import; a test compares them.
"""

from typing import Final

MIN_LEVEL: Final = 1e-6
MAX_LEVEL: Final = 1 - MIN_LEVEL
