"""The errors of the shared statistics."""

from spotthebot.kit.errors import Invalid
from spotthebot.statistics.levels import EVERY_LEVEL, is_level
from spotthebot.statistics.whole_numbers import is_whole


class ColumnsDiffer(Invalid):
    """The columns must be lists of one length, not of the shapes {first} and {second}."""

    title = "Columns differ"


class ColumnMalformed(Invalid):
    """Column {column}, row {row} (the first is 0): {fault}. Correct the row or leave it out."""

    title = "Malformed column"


class KindUnknown(Invalid):
    """A kind of correlation is one of {known}, not {value}."""

    title = "Unknown kind of correlation"


class LevelOutOfRange(Invalid):
    """A confidence level is {allowed}, not {value}."""

    title = "Confidence level out of range"


class SeedMalformed(Invalid):
    """A seed is a whole number from 0, or a numpy.random.Generator, not {value}."""

    title = "Malformed seed"


class SettingOutOfRange(Invalid):
    """{setting} must be {allowed}, not {value}."""

    title = "Setting out of range"


class SplitsOutOfRange(Invalid):
    """The number of random splits or resamples is a whole number from 1 to {most:,}, not {value}."""

    title = "Number of splits out of range"


def require_splits(value: int, most: int) -> None:
    """Raise SplitsOutOfRange unless the value is a whole number from 1 to `most`."""
    if not is_whole(value, 1, most):
        raise SplitsOutOfRange(most=most, value=value)


def require_confidence_level(value: float) -> None:
    """Raise LevelOutOfRange for a level so close to 0 or 1 that no interval can be computed."""
    if not is_level(value):
        raise LevelOutOfRange(allowed=EVERY_LEVEL, value=value)
