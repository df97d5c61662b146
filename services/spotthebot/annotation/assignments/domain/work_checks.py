"""Checks of an annotator's submitted package: right and wrong gold items, fast items, strikes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from spotthebot.annotation.annotators.domain import WorkCheck
from spotthebot.annotation.assignments.domain.answers import SubmittedAnswer
from spotthebot.annotation.campaigns.domain import Campaign

MEDIAN_ITEMS: Final = 100
"""The number of other annotators' items from which their median is compared."""
MEDIAN_ANNOTATORS: Final = 3
"""The number of annotators who must have made these items; one annotator is not a measure."""


@dataclass(frozen=True)
class ResponseTimes:
    """The median time that other annotators took for their newest `items` items.

    `annotators` is the number of these other annotators.
    """

    items: int
    annotators: int
    median: timedelta

    @property
    def is_known(self) -> bool:
        """Whether there are enough items for a comparison."""
        return self.items >= MEDIAN_ITEMS and self.annotators >= MEDIAN_ANNOTATORS


def least_time(campaign: Campaign, others: ResponseTimes | None) -> timedelta | None:
    """Return the time below which an item counts as fast: the longer of the campaign's two limits, None without limits.

    `others` has the times of other annotators, None before any other annotator submitted a package.
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
    """Check a submitted package and return its counts; `gold` says for each gold item whether its answer is right.

    Each wrong gold item is a strike; a fast package is a strike if the campaign says so. A package is fast by the
    number of its fast items. The sum of times would let one pause hide all fast items.
    """
    graded = [*gold]
    wrong = graded.count(False)
    fast = 0 if least is None else sum(timedelta(milliseconds=answer.elapsed_ms or 0) < least for answer in answers)
    is_fast = fast > len(answers) / 2
    return WorkCheck(
        gold_right=len(graded) - wrong,
        gold_wrong=wrong,
        fast_items=fast,
        fast_packages=int(is_fast),
        strikes=wrong + (is_fast and campaign.strike_fast_packages),
    )
