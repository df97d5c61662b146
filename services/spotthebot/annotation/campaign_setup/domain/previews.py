"""Previews of campaigns before annotation: work, people, hours and money."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from statistics import median

from spotthebot.annotation.campaigns.domain import Campaign
from spotthebot.annotation.packages.domain.workload import AnnotatorsNeeded, Workload, annotators_of
from spotthebot.kit.errors import FieldError


@dataclass(frozen=True)
class CampaignEstimate:
    """The estimated size, people and cost of a campaign.

    `annotators` has a lower and an upper bound for the smallest number of annotators that suffices. The bounds are
    equal unless packages were uploaded.
    """

    packages: int
    items: int
    assignments: int
    annotations: int
    annotators: AnnotatorsNeeded
    pay: Decimal | None
    unreached: tuple[FieldError, ...]
    """The limits of the campaign that its conversations do not reach, with the difference."""


@dataclass(frozen=True)
class CampaignPreview(CampaignEstimate):
    """An estimate with working time. `work` is the total for all annotators; None if no time was measured.

    `medians` maps a length to the median time of one annotation. `unmeasured` has the lengths without a measured time.
    """

    work: timedelta | None
    medians: Mapping[int, timedelta]
    measured: int
    unmeasured: tuple[int, ...]


def estimate(campaign: Campaign, workload: Workload) -> CampaignEstimate:
    """Return the estimated size, people and cost of a campaign."""
    assignments = sum(workload.assignments(campaign.annotations_per_segment).values())
    return CampaignEstimate(
        packages=sum(workload.packages.values()),
        items=sum(workload.items.values()),
        assignments=assignments,
        annotations=sum(workload.annotations(campaign.annotations_per_segment).values()),
        annotators=annotators_of(campaign, workload),
        pay=None if campaign.pay_per_package is None else campaign.pay_per_package * assignments,
        unreached=tuple(_unreached(campaign, workload)),
    )


def preview(campaign: Campaign, workload: Workload, measured: Sequence[tuple[int, timedelta]]) -> CampaignPreview:
    """Estimate a campaign from (exchanges, time) pairs, measured in annotations by the same protocol.

    For a length without measured times, each exchange counts as the median time of an exchange.
    """
    times: dict[int, list[float]] = {}
    for exchanges, time in measured:
        times.setdefault(exchanges, []).append(time.total_seconds())
    medians = {
        exchanges: timedelta(seconds=median(times[exchanges]))
        for exchanges in sorted(times.keys() & workload.items.keys())
    }
    return CampaignPreview(
        **vars(estimate(campaign, workload)),
        work=_work(workload.annotations(campaign.annotations_per_segment), medians, measured),
        medians=medians,
        measured=sum(len(times[exchanges]) for exchanges in medians),
        unmeasured=tuple(sorted(workload.items.keys() - medians.keys())),
    )


def _unreached(campaign: Campaign, workload: Workload) -> Iterator[FieldError]:
    if workload.largest < campaign.package_size and campaign.mode != "uploaded":
        yield FieldError(
            "/package_size", f"is {campaign.package_size}, but these conversations make packages of {workload.largest}"
        )
    limit, most = campaign.packages_per_annotator, _max_packages(workload)
    if limit is not None and limit > most:
        detail = f"is {limit}, but nobody can take more than {most} without a conversation that they have seen"
        yield FieldError("/packages_per_annotator", detail)


def _max_packages(workload: Workload) -> int:
    """Return an upper bound for the packages that one annotator can take without seeing a conversation twice."""
    if not workload.conversations:
        return len(workload.packages)
    smallest = min(map(len, workload.conversations))
    return min(len(workload.conversations), len(frozenset().union(*workload.conversations)) // max(1, smallest))


def _work(
    annotations: Mapping[int, int], medians: Mapping[int, timedelta], measured: Sequence[tuple[int, timedelta]]
) -> timedelta | None:
    if not measured:
        return None
    exchange = timedelta(seconds=median(time.total_seconds() / exchanges for exchanges, time in measured))
    expected = (medians.get(exchanges, exchange * exchanges) * count for exchanges, count in annotations.items())
    return sum(expected, timedelta())
