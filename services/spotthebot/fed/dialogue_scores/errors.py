"""The errors of dimensions and bots that a score set does not have.

Invalid
├── NoSuchDimension
└── NoSuchScoredBot
"""

from spotthebot.kit.errors import Invalid


class NoSuchDimension(Invalid):
    """The score set has no dimension '{dimension}': it has {known}."""


class NoSuchScoredBot(Invalid):
    """The score set scores no bot '{bot}': it scores {known}."""
