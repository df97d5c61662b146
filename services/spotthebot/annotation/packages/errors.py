"""The errors of conversations that can't be packed.

Invalid
├── NoPersonTwice
├── NothingToAnnotate
├── TooFewToCompare
└── TooFewUnits
"""

from spotthebot.kit.errors import Invalid


class NothingToAnnotate(Invalid):
    """No conversation has the {exchanges} exchanges that the longest segment needs: {too_short} are too short."""


class NoPersonTwice(Invalid):
    """No person had conversations with two different bots here: set pairs to any, or take chats of people with bots."""


class TooFewToCompare(Invalid):
    """{largest} of {dialogues} dialogues have the same two speakers, so at most {at_most} can be paired with others."""


class TooFewUnits(Invalid):
    """units_twice is {units_twice}, but there are only {units} {called} to annotate: set it to {units} or less."""
