"""What a submitted package says about its annotator: gold items right or wrong, items answered too fast, strikes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from spotthebot.annotation.annotators.domain import WorkCheck
from spotthebot.annotation.assignments.domain.answers import SubmittedAnswer
from spotthebot.annotation.campaigns.domain import Campaign

MEDIAN_ITEMS: Final = 100
"""Items of others without which nobody is compared with their median."""
MEDIAN_ANNOTATORS: Final = 3
"""Annotators of whom these items have to be: one alone is nobody's measure."""


@dataclass(frozen=True)
class ResponseTimes:
    """How long others took for an item: the median of their newest `items`, which are of so many `annotators`."""

    items: int
    annotators: int
    median: timedelta

    @property
    def is_known(self) -> bool:
        """Whether there are enough items to compare with."""
        return self.items >= MEDIAN_ITEMS and self.annotators >= MEDIAN_ANNOTATORS


def least_time(campaign: Campaign, others: ResponseTimes | None) -> timedelta | None:
    """Return the time below which an item is fast: the longer one of the campaign's two; None where nothing is.

    `others` has the times of other annotators, None where nobody else submitted anything.
    """
    least = []
    if campaign.min_seconds_per_item is not None:
        least.append(timedelta(seconds=campaign.min_seconds_per_item))
    if campaign.min_fraction_of_median is not None and others is not None and others.is_known:
        least.append(campaign.min_fraction_of_median * others.median)
    return max(least, default=None)


def check_work(
    campaign: Campaign, answers: Sequence[SubmittedAnswer], gold: Iterable[bool], least: timedelta | None
) -> WorkCheck:
    """Count in a submitted package; `gold` says of each gold item whether its answer is right.

    A wrong gold item is a strike, and so is a fast package where the campaign says so. Whether a package is fast is
    decided by its items and not by their sum, in which one pause would hide all others.
    """
    graded = [*gold]
    wrong = graded.count(False)
    fast = 0 if least is None else sum(timedelta(milliseconds=answer.elapsed_ms) < least for answer in answers)
    is_fast = fast > len(answers) / 2
    return WorkCheck(
        gold_right=len(graded) - wrong,
        gold_wrong=wrong,
        fast_items=fast,
        fast_packages=int(is_fast),
        strikes=wrong + (is_fast and campaign.strike_fast_packages),
    )
