"""The levels that requests may ask for are those that the statistics compute."""

from spotthebot.contracts import levels as wire
from spotthebot.statistics import levels


def test_the_wire_and_the_statistics_allow_the_same_levels():
    assert (wire.MIN_LEVEL, wire.MAX_LEVEL) == (levels.MIN_LEVEL, levels.MAX_LEVEL)
