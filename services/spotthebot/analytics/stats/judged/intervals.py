"""The numbers of a correction as they are reported: intervals, or the reasons why there are none."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypedDict

from spotthebot.analytics.stats.annotations import FloatArray
from spotthebot.analytics.stats.judged import checks
from spotthebot.analytics.stats.judged.checks import Finding
from spotthebot.analytics.stats.judged.correction import Corrected
from spotthebot.analytics.stats.judged.saved import saved_shares
from spotthebot.statistics.arrays import defined
from spotthebot.statistics.uncertainty import ClusteredVariance

_AGREED: Final = "people's labels are all alike, so nothing tells how others would differ"


@dataclass(frozen=True)
class Interval:
    """An estimate with bounds. A number that does not exist is None, and `reason` says why."""

    estimate: float | None
    low: float | None
    high: float | None
    reason: str | None = None


class Described(TypedDict):
    """The estimates of people alone and corrected, the share of labels saved, lambda, and the reason of no change."""

    people: Interval
    corrected: Interval
    labels_saved: Interval
    slope: float
    reason: str | None


def describe(
    corrected: Corrected,
    people: FloatArray,
    variance: ClusteredVariance,
    found: Sequence[Finding | None],
    confidence_level: float,
) -> list[Described]:
    """Return the intervals of m corrected estimates. `found` has the finding of each estimate, if any."""
    saved = saved_shares(corrected.control, variance, corrected.variance, confidence_level)
    described: list[Described] = []
    for at, finding in enumerate(found):
        unknown = variance.uncertainty(at).reason
        reason = None if finding is None else finding.reason
        if reason is None and corrected.control.used[at] == 0:
            fitted = corrected.control.slope[at] == corrected.control.slope[at]
            reason = checks.WIDER if fitted else checks.FEW_LABELS
        of_people = Interval(*_numbers(at, people, corrected.people_low, corrected.people_high), unknown)
        nothing = Interval(None, None, None, reason or unknown)
        if (finding is not None and finding.blocks) or unknown is not None:
            of_both, of_saved = nothing, nothing
        elif finding is not None:
            of_both, of_saved = of_people, Interval(0.0, 0.0, 0.0)
        else:
            of_both = Interval(*_numbers(at, corrected.estimate, corrected.low, corrected.high))
            numbers = _numbers(at, *saved)
            of_saved = Interval(*numbers, _AGREED if numbers[0] is None else None)
        described.append(
            Described(
                people=of_people,
                corrected=of_both,
                labels_saved=of_saved,
                slope=float(corrected.control.used[at]),
                reason=reason,
            )
        )
    return described


def _numbers(at: int, *columns: FloatArray) -> tuple[float | None, float | None, float | None]:
    estimate, low, high = (defined(each[at]) for each in columns)
    return estimate, low, high
