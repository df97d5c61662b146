"""How likelihoods become a score: what is averaged, which follow-ups count, and how a set of them is summed up."""

from dataclasses import dataclass
from enum import StrEnum


class Mode(StrEnum):
    """What a follow-up's value is, in nats.

    `whole_sequence_mean` is that of the released code: the mean over context and follow-up together, so that it falls
    with every likely token of the context. `followup_mean` is the mean over the follow-up's own tokens, and
    `followup_sum` their sum, which is the formula of the paper (Mehri & Eskenazi 2020, section 4.2).
    """

    WHOLE_SEQUENCE_MEAN = "whole_sequence_mean"
    FOLLOWUP_MEAN = "followup_mean"
    FOLLOWUP_SUM = "followup_sum"


class PolarityChoice(StrEnum):
    """Which follow-ups count; bipartite-play takes negative ones alone."""

    BOTH = "both"
    NEGATIVES = "negatives"
    POSITIVES = "positives"


class SetRule(StrEnum):
    """How the follow-ups of one polarity are summed up: by their mean (the released code) or sum (the paper)."""

    MEAN = "mean"
    SUM = "sum"


@dataclass(frozen=True)
class ScoringRule:
    """All that a score depends on beside the likelihoods; the default is the released code's."""

    mode: Mode = Mode.WHOLE_SEQUENCE_MEAN
    polarity: PolarityChoice = PolarityChoice.BOTH
    set_rule: SetRule = SetRule.MEAN

    @property
    def needs_context_likelihood(self) -> bool:
        """Whether the model has to predict the context as well, which costs more than its follow-ups."""
        return self.mode is Mode.WHOLE_SEQUENCE_MEAN
