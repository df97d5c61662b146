"""What FED refuses: dimensions, likelihoods and dialogues that give no score.

Invalid
├── DimensionUnusable
├── DimensionNameTaken
├── DialogueUnusable
├── FollowupsMissing
└── LikelihoodUnusable
NotFound
└── NoSuchDimension
"""

from spotthebot.kit.errors import Invalid, NotFound


class DimensionUnusable(Invalid):
    """The dimension '{name}' can't be used: {reason}."""


class DimensionNameTaken(Invalid):
    """Two dimensions are called '{name}': each needs a name of its own."""


class DialogueUnusable(Invalid):
    """The dialogue can't be scored: {reason}."""

    @property
    def reason(self) -> str:
        return str(self.facts["reason"])


class FollowupsMissing(Invalid):
    """No follow-ups of that polarity: {names} have no {polarity} ones, and would score 0 whatever the context says."""


class LikelihoodUnusable(Invalid):
    """The likelihood of '{text}' can't be scored: {reason}."""


class NoSuchDimension(NotFound):
    """There is no dimension '{name}': there are {known}."""
