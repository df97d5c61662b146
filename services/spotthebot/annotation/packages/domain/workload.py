"""The contents of a campaign's packages, and how many annotators they need.

Nobody sees a conversation twice, so packages that share conversations go to different annotators. For uploaded packages
this is graph colouring with a limit for each colour. The smallest number of colours can't be computed in general (Karp
1972), so the result is a lower and an upper bound.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Self
from uuid import UUID

from spotthebot.annotation.campaigns.domain import Campaign
from spotthebot.annotation.packages.domain.allocation import Allocation


@dataclass(frozen=True)
class Workload:
    """The contents of a campaign: items by length in exchanges, packages by block, and the size of its largest package.

    Packages of one block show the same conversations. Uploaded packages have the block None; `conversations` and
    `extra_annotators` have an entry for each uploaded package. `extra_annotations` by length and `extra_assignments` by
    block come on top of the campaign's annotators for each item and package.
    """

    items: Mapping[int, int]
    packages: Mapping[int | None, int]
    largest: int
    extra_annotations: Mapping[int, int] = field(default_factory=dict)
    extra_assignments: Mapping[int | None, int] = field(default_factory=dict)
    conversations: Sequence[frozenset[UUID]] = ()
    extra_annotators: Sequence[int] = ()

    @classmethod
    def of(cls, allocation: Allocation) -> Self:
        """Return the workload of allocated packages; items that show conversations whole have the length 0."""
        packages = allocation.packages
        items = [(item.exchanges or 0, package.annotated_twice) for package in packages for item in package.items]
        return cls(
            items=Counter(length for length, _ in items),
            packages=Counter(package.block for package in packages),
            largest=max(len(package.items) for package in packages),
            extra_annotations=Counter(length for length, annotated_twice in items if annotated_twice),
            extra_assignments=Counter(package.block for package in packages if package.annotated_twice),
        )

    def annotations(self, annotators: int) -> dict[int, int]:
        """Return the annotations by length, if `annotators` see each item, and the extra annotators theirs."""
        extra = self.extra_annotations
        return {length: annotators * count + extra.get(length, 0) for length, count in self.items.items()}

    def assignments(self, annotators: int) -> dict[int | None, int]:
        """Return the assignments by block, if `annotators` get each package, and the extra annotators theirs."""
        extra = self.extra_assignments
        return {block: annotators * count + extra.get(block, 0) for block, count in self.packages.items()}


@dataclass(frozen=True)
class AnnotatorsNeeded:
    """At least `at_least` annotators are needed, and `enough` annotators suffice.

    If both numbers are equal, they are the smallest number that suffices.
    """

    at_least: int
    enough: int


def annotators_of(campaign: Campaign, workload: Workload) -> AnnotatorsNeeded:
    """Return how many annotators a campaign needs.

    Nobody gets two packages of a block, or more packages than allowed.
    """
    annotations, limit = campaign.annotations_per_segment, campaign.packages_per_annotator
    if workload.conversations:
        needs = [annotations + extra for extra in workload.extra_annotators]
        return annotators_needed(workload.conversations, needs, packages_per_annotator=limit)
    assignments = workload.assignments(annotations)
    total = sum(assignments.values())
    if not total:
        return AnnotatorsNeeded(0, 0)
    fewest = max(*assignments.values(), -(-total // min(limit or total, len(assignments))))
    return AnnotatorsNeeded(fewest, fewest)


def annotators_needed(
    packages: Sequence[Collection[Hashable]], needs: Sequence[int], *, packages_per_annotator: int | None
) -> AnnotatorsNeeded:
    """Return bounds for the number of annotators, if each package needs as many different annotators as `needs` says.

    A package is given as its conversations. With fewer than `at_least` annotators, somebody would see the most frequent
    conversation twice, or get more packages than allowed. For `enough`, packages are given out one by one, packages
    with the most frequent conversation first. Each package goes to the first annotators who may have it.
    """
    shown: Counter[Hashable] = Counter()
    for package, needed in zip(packages, needs, strict=True):
        shown.update(dict.fromkeys(package, needed))
    limit = packages_per_annotator or max(1, len(packages))
    at_least = max([-(-sum(needs) // limit), *shown.values()])
    return AnnotatorsNeeded(at_least, _enough(packages, needs, shown, limit))


def _enough(
    packages: Sequence[Collection[Hashable]], needs: Sequence[int], shown: Counter[Hashable], limit: int
) -> int:
    seen_by: dict[Hashable, set[int]] = defaultdict(set)
    packages_of: Counter[int] = Counter()
    free: dict[int, None] = {}
    by_frequency = sorted(
        zip(packages, needs, strict=True), key=lambda each: -max((shown[one] for one in each[0]), default=0)
    )
    for package, needed in by_frequency:
        barred = set().union(*(seen_by[each] for each in package))
        chosen = [*islice((each for each in free if each not in barred), needed)]
        known = len(packages_of)
        chosen += range(known, known + needed - len(chosen))
        for annotator in chosen:
            packages_of[annotator] += 1
            free[annotator] = None
            if packages_of[annotator] == limit:
                del free[annotator]
        for conversation in package:
            seen_by[conversation].update(chosen)
    return len(packages_of)
