"""The errors of conversations that make no packages.

Invalid
├── NothingToAnnotate
└── TooFewToCompare
"""

from spotthebot.kit.errors import Invalid


class NothingToAnnotate(Invalid):
    """No conversation has the {exchanges} exchanges that the longest segment needs: {too_short} are too short."""


class TooFewToCompare(Invalid):
    """{largest} of {dialogues} dialogues have the same two speakers, so at most {at_most} can be paired with others."""
