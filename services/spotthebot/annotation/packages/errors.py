"""The errors of conversations that make no packages.

Invalid
├── NothingToAnnotate
└── TooFewToCompare
"""

from spotthebot.kit.errors import Invalid


class NothingToAnnotate(Invalid):
    """No conversation has {exchanges} exchanges, as the longest segment needs: {too_short} are too short."""


class TooFewToCompare(Invalid):
    """{largest} of {dialogues} dialogues have the same two speakers: {at_most} at most find others to stand beside."""
