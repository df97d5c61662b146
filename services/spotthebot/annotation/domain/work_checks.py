"""What a submitted package says about its annotator: gold items right or wrong, items answered too fast, strikes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from spotthebot.annotation.domain.answers import SubmittedAnswer
from spotthebot.annotation.domain.campaigns import Campaign


@dataclass(frozen=True)
class WorkCheck:
    """Counts of one package, or of all packages of an annotator.

    A package is fast where its items took less than `min_seconds_per_item` on average.
    """

    gold_right: int = 0
    gold_wrong: int = 0
    fast_items: int = 0
    fast_packages: int = 0
    strikes: int = 0


def check_work(campaign: Campaign, answers: Sequence[SubmittedAnswer], gold: Iterable[bool]) -> WorkCheck:
    """Count in a submitted package; `gold` says of each gold item whether its answer is right.

    A wrong gold item is a strike, and so is a fast package where the campaign says so.
    """
    graded = [*gold]
    wrong = graded.count(False)
    fast_items, is_fast = 0, False
    if campaign.min_seconds_per_item is not None:
        least = 1000 * campaign.min_seconds_per_item
        fast_items = sum(answer.elapsed_ms < least for answer in answers)
        is_fast = sum(answer.elapsed_ms for answer in answers) < least * len(answers)
    return WorkCheck(
        gold_right=len(graded) - wrong,
        gold_wrong=wrong,
        fast_items=fast_items,
        fast_packages=int(is_fast),
        strikes=wrong + (is_fast and campaign.strike_fast_packages),
    )
