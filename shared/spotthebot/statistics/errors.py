"""What the shared statistics refuse."""

from spotthebot.kit.errors import Invalid
from spotthebot.statistics.levels import EVERY_LEVEL, MAX_LEVEL, MIN_LEVEL


class ColumnsDiffer(Invalid):
    """The columns must be lists of one length, not of the shapes {first} and {second}."""

    title = "Columns differ"


class ColumnMalformed(Invalid):
    """Column {column}, row {row} (the first is 0): {fault}. Correct the row or leave it out."""

    title = "Malformed column"


class LevelOutOfRange(Invalid):
    """A confidence level is {allowed}, not {value}."""

    title = "Confidence level out of range"


class SplitsOutOfRange(Invalid):
    """The number of random splits or resamples is from 1 to {most:,}, not {value}."""

    title = "Number of splits out of range"


def require_confidence_level(value: float) -> None:
    """Raise LevelOutOfRange for a level that leaves no room for an interval or for what it leaves out."""
    if not MIN_LEVEL <= value <= MAX_LEVEL:
        raise LevelOutOfRange(allowed=EVERY_LEVEL, value=value)
