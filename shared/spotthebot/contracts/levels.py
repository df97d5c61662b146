"""The levels of confidence and of significance, and the powers of a test, that requests may ask for.

They are those of `spotthebot.statistics.levels`, which schemas cannot import; a test compares them.
"""

from typing import Final

MIN_LEVEL: Final = 1e-6
MAX_LEVEL: Final = 1 - MIN_LEVEL
