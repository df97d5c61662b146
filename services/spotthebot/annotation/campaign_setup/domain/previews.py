"""What a campaign will take, before anybody annotates: work, people, hours and money."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from statistics import median

from spotthebot.annotation.campaigns.domain import Campaign
from spotthebot.annotation.packages.domain.workload import AnnotatorsNeeded, Workload, annotators_of
from spotthebot.kit.errors import FieldError


@dataclass(frozen=True)
class CampaignPreview:
    """A preview; `work` is of all annotators together, None where nothing was measured.

    The fewest `annotators` that can do it are between two numbers, which are equal unless packages were uploaded.
    `medians` are the measured times of one annotation by length, `unmeasured` the lengths of which there is none.
    """

    packages: int
    assignments: int
    annotations: int
    annotators: AnnotatorsNeeded
    work: timedelta | None
    medians: Mapping[int, timedelta]
    measured: int
    unmeasured: tuple[int, ...]
    pay: Decimal | None
    unreached: tuple[FieldError, ...]
    """Limits of the campaign that its conversations do not reach, and by how much."""


def preview(campaign: Campaign, workload: Workload, measured: Sequence[tuple[int, timedelta]]) -> CampaignPreview:
    """Return what a campaign will take, by times (exchanges, time) that annotators took for the same protocol.

    A length that was never measured takes as long as its exchanges at the median time of an exchange.
    """
    redundancy = campaign.annotations_per_segment
    packages = sum(workload.packages.values())
    times: dict[int, list[float]] = {}
    for exchanges, time in measured:
        times.setdefault(exchanges, []).append(time.total_seconds())
    medians = {
        exchanges: timedelta(seconds=median(times[exchanges]))
        for exchanges in sorted(times.keys() & workload.items.keys())
    }
    return CampaignPreview(
        packages=packages,
        assignments=packages * redundancy,
        annotations=sum(workload.items.values()) * redundancy,
        annotators=annotators_of(campaign, workload),
        work=_work(workload.items, redundancy, medians, measured),
        medians=medians,
        measured=sum(len(times[exchanges]) for exchanges in medians),
        unmeasured=tuple(sorted(workload.items.keys() - medians.keys())),
        pay=None if campaign.pay_per_package is None else campaign.pay_per_package * packages * redundancy,
        unreached=tuple(_unreached(campaign, workload)),
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
    """Return a number of packages above which nobody can take any without a conversation that they have seen."""
    if not workload.conversations:
        return len(workload.packages)
    smallest = min(map(len, workload.conversations))
    return min(len(workload.conversations), len(frozenset().union(*workload.conversations)) // max(1, smallest))


def _work(
    items: Mapping[int, int],
    redundancy: int,
    medians: Mapping[int, timedelta],
    measured: Sequence[tuple[int, timedelta]],
) -> timedelta | None:
    if not measured:
        return None
    exchange = timedelta(seconds=median(time.total_seconds() / exchanges for exchanges, time in measured))
    expected = (medians.get(exchanges, exchange * exchanges) * count for exchanges, count in items.items())
    return sum(expected, timedelta()) * redundancy
