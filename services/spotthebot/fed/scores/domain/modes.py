"""How likelihoods become a score: the value of a follow-up, the choice of follow-ups, and their aggregation."""

from dataclasses import dataclass
from enum import StrEnum


class Mode(StrEnum):
    """The value of a follow-up, in nats.

    `whole_sequence_mean` is the mode of the authors' released code: the mean over all tokens of context and follow-up.
    So it falls with every likely token of the context. `followup_mean` is the mean over the follow-up's own tokens.
    `followup_sum` is the sum over these tokens, the formula of the paper (Mehri & Eskenazi 2020, section 4.2).
    """

    WHOLE_SEQUENCE_MEAN = "whole_sequence_mean"
    FOLLOWUP_MEAN = "followup_mean"
    FOLLOWUP_SUM = "followup_sum"


class PolarityChoice(StrEnum):
    """The follow-ups that a score uses. Bipartite-play uses only negative ones."""

    BOTH = "both"
    NEGATIVES = "negatives"
    POSITIVES = "positives"


class SetRule(StrEnum):
    """How the follow-ups of one polarity are aggregated: by their mean (the released code) or their sum (the paper)."""

    MEAN = "mean"
    SUM = "sum"


@dataclass(frozen=True)
class ScoringRule:
    """The rule that turns likelihoods into a score. The default is the rule of the authors' released code."""

    mode: Mode = Mode.WHOLE_SEQUENCE_MEAN
    polarity: PolarityChoice = PolarityChoice.BOTH
    set_rule: SetRule = SetRule.MEAN

    @property
    def needs_context_likelihood(self) -> bool:
        """Return whether the model has to predict the context too, which costs more than predicting the follow-ups."""
        return self.mode is Mode.WHOLE_SEQUENCE_MEAN
