"""What the shared statistics refuse."""

from spotthebot.kit.errors import Invalid


class ColumnsDiffer(Invalid):
    """The columns must be lists of one length, not of the shapes {first} and {second}."""

    title = "Columns differ"


class LevelOutOfRange(Invalid):
    """A confidence level is between 0 and 1, both excluded, not {value}."""

    title = "Confidence level out of range"
