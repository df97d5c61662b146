"""The errors of scores that can't be computed, or not in time.

Invalid
├── FollowupsMissing
├── LikelihoodUnusable
└── ModeNotForModel
Unavailable
└── ScoringTooSlow
"""

from spotthebot.kit.errors import Invalid, Unavailable


class FollowupsMissing(Invalid):
    """Without {polarity} follow-ups, {names} would score 0 in every context: add some, or choose another polarity."""


class LikelihoodUnusable(Invalid):
    """The likelihood of '{text}' can't be scored: {reason}."""

    @property
    def reason(self) -> str:
        return self.detail.rstrip(".")


class ModeNotForModel(Invalid):
    """'{model}' gives no likelihood of contexts, as it is an encoder-decoder: use followup_mean or followup_sum."""


class ScoringTooSlow(Unavailable):
    """The scores took longer than {seconds} seconds: score fewer dialogues at once, or a collection as a score job."""
