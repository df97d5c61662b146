"""What the shared statistics refuse."""

from spotthebot.kit.errors import Invalid


class ColumnsDiffer(Invalid):
    """The columns must be lists of one length, not of the shapes {first} and {second}."""

    title = "Columns differ"
