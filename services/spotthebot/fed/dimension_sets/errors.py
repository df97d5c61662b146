"""The errors of dimensions that can't be used, and of missing dimensions and sets.

Invalid
├── DimensionUnusable
└── DimensionNameTaken
NotFound
├── NoSuchDimension
└── NoSuchDimensionSet
Conflict
└── DimensionSetNameTaken
"""

from spotthebot.kit.errors import Conflict, Invalid, NotFound


class DimensionUnusable(Invalid):
    """The dimension '{name}' can't be used: {reason}."""


class DimensionNameTaken(Invalid):
    """Two dimensions are called '{name}': each needs a name of its own."""


class NoSuchDimension(NotFound):
    """There is no dimension '{name}': there are {known}."""


class NoSuchDimensionSet(NotFound):
    """There is no version {version} of a set of dimensions '{name}'."""


class DimensionSetNameTaken(Conflict):
    """'{name}' is a built-in set of dimensions: choose another name for yours."""
