"""What a campaign's packages hold, and how many annotators they need.

Nobody sees a conversation twice, so packages that share conversations go to different annotators. For packages that
somebody else made this is the colouring of a graph with a limit for each colour, of which the fewest colours can't be
computed in general (Karp 1972). So two numbers say between what it is.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from uuid import UUID

from spotthebot.annotation.campaigns.domain import Campaign


@dataclass(frozen=True)
class Workload:
    """What a campaign holds: items by length in exchanges, packages by block, and the items of its largest package.

    Packages of one block show the same conversations; the block is None of packages that were uploaded:
    `conversations` has what each of these shows.
    """

    items: Mapping[int, int]
    packages: Mapping[int | None, int]
    largest: int
    conversations: Sequence[frozenset[UUID]] = ()


@dataclass(frozen=True)
class AnnotatorsNeeded:
    """`at_least` annotators are needed, and `enough` can do it; the fewest are known where both are equal."""

    at_least: int
    enough: int


def annotators_of(campaign: Campaign, workload: Workload) -> AnnotatorsNeeded:
    """Return how many annotators are needed: nobody gets two packages of a block, nor more than the limit."""
    packages, annotations = workload.packages, campaign.annotations_per_segment
    limit = campaign.packages_per_annotator
    if workload.conversations:
        return annotators_needed(workload.conversations, annotations=annotations, packages_per_annotator=limit)
    total = sum(packages.values()) * annotations
    if not total:
        return AnnotatorsNeeded(0, 0)
    of_one_block = max(packages.values()) * annotations
    fewest = max(of_one_block, -(-total // min(limit or total, len(packages))))
    return AnnotatorsNeeded(fewest, fewest)


def annotators_needed(
    packages: Sequence[Collection[Hashable]], *, annotations: int, packages_per_annotator: int | None
) -> AnnotatorsNeeded:
    """Return how many annotators can annotate packages, given by their conversations, `annotations` times each.

    Fewer than `at_least` would have to see the conversation that most packages show twice, or take more packages than
    they may. `enough` are needed when packages are given out one by one, those with the most shown conversation first,
    each to those who came first and may have it.
    """
    shown = Counter(conversation for package in packages for conversation in set(package))
    limit = packages_per_annotator or max(1, len(packages))
    by_limit = -(-len(packages) * annotations // limit)
    at_least = max([by_limit, *(annotations * count for count in shown.values())])
    return AnnotatorsNeeded(at_least, _enough(packages, shown, annotations, limit))


def _enough(packages: Sequence[Collection[Hashable]], shown: Counter[Hashable], annotations: int, limit: int) -> int:
    seen_by: dict[Hashable, set[int]] = defaultdict(set)
    packages_of: Counter[int] = Counter()
    free: dict[int, None] = {}
    for package in sorted(packages, key=lambda package: -max((shown[each] for each in package), default=0)):
        barred = set().union(*(seen_by[each] for each in package))
        chosen = [*islice((each for each in free if each not in barred), annotations)]
        known = len(packages_of)
        chosen += range(known, known + annotations - len(chosen))
        for annotator in chosen:
            packages_of[annotator] += 1
            free[annotator] = None
            if packages_of[annotator] == limit:
                del free[annotator]
        for conversation in package:
            seen_by[conversation].update(chosen)
    return len(packages_of)
