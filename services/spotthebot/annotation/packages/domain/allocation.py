"""Allocation: which package shows which conversation, how far, at which position.

Conversations are dealt into blocks, and a block makes one package for each length: every conversation of the block is
in each of its packages, at another length in each. So no package shows a conversation twice, and an annotator who may
see a conversation once can take one package of every block.

All draws mix a secret with the seed: the owner can repeat them, and nobody recovers the order of the collection's plan,
which says who is a bot, from what annotators see. Spot The Bot packs segments this way (Deriu et al. 2020, section
3.1), but shows conversations that are too short at the lengths that they have: a conversation that never appears at the
longest length is then known to be of people.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from spotthebot.annotation.packages.domain.pairs import Dialogue, pair
from spotthebot.annotation.packages.domain.shuffle import Shuffle
from spotthebot.annotation.packages.errors import NothingToAnnotate
from spotthebot.annotation.protocols.domain.questions import Unit


@dataclass(frozen=True)
class Candidate:
    """A conversation that a campaign could show; those of one `stratum` have the same two speakers, known to nobody."""

    conversation_id: UUID
    exchanges: int
    stratum: str


@dataclass(frozen=True)
class Item:
    """The conversations that are annotated together, up to a number of exchanges, or whole."""

    conversations: tuple[UUID, ...]
    exchanges: int | None


@dataclass(frozen=True)
class AllocatedPackage:
    """Items in the order in which they are shown; packages of one block show the same conversations."""

    block: int
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Allocation:
    """All packages in the order in which they are given out, and how many conversations were left out.

    `too_short` conversations lack exchanges, `unpaired` is 1 where an odd number of dialogues is compared in pairs.
    """

    packages: tuple[AllocatedPackage, ...]
    blocks: int
    too_short: int
    unpaired: int

    @property
    def conversations(self) -> frozenset[UUID]:
        """The conversations that are shown: each at every length."""
        return frozenset(each for package in self.packages for item in package.items for each in item.conversations)


def allocate(candidates: Sequence[Candidate], unit: Unit, *, package_size: int, secret: bytes, seed: int) -> Allocation:
    """Allocate conversations to packages of at most `package_size` items.

    The same conversations in the same order, secret (up to 64 bytes) and seed give the same packages; ids and the names
    of strata decide nothing. A conversation is shown at every length or, if it is too short for the longest, at none.

    These numbers differ by one at most between any two packages: their items, their items of one stratum; and within a
    package, its items of one length. Over a block, each stratum appears equally often at each length.

    Raises NothingToAnnotate where every conversation is too short, and TooFewToCompare where pairs can't be made.
    """
    shuffle = Shuffle(secret, seed)
    needed = max(unit.lengths, default=1)
    long_enough = [each for each in candidates if each.exchanges >= needed]
    too_short = len(candidates) - len(long_enough)
    if not long_enough:
        raise NothingToAnnotate(exchanges=needed, too_short=too_short)
    if unit.dialogues == 2:
        subjects, unpaired = _pairs(long_enough, shuffle), len(long_enough) % 2
    else:
        subjects, unpaired = [_Subject((each.conversation_id,), each.stratum) for each in long_enough], 0
    ordered = _strata_in_turn(subjects, shuffle)
    blocks = -(-len(ordered) // package_size)
    packages = [
        package
        for block in range(blocks)
        for package in _packages(ordered[block::blocks], unit.lengths or (None,), block, shuffle)
    ]
    return Allocation(tuple(shuffle("packages", packages)), blocks, too_short, unpaired)


@dataclass(frozen=True)
class _Subject:
    conversations: tuple[UUID, ...]
    stratum: str


def _strata_in_turn(subjects: Sequence[_Subject], shuffle: Shuffle) -> list[_Subject]:
    """Put strata one after the other, each shuffled, so that dealing in turn spreads each of them evenly.

    Strata keep the order in which they first appear: the pairs of one bot stay together, which spreads bots, too.
    """
    by_stratum: dict[str, list[_Subject]] = defaultdict(list)
    for subject in subjects:
        by_stratum[subject.stratum].append(subject)
    strata = [shuffle(f"stratum/{number}", members) for number, members in enumerate(by_stratum.values())]
    return [subject for members in shuffle.rotate("strata", strata) for subject in members]


def _pairs(candidates: Sequence[Candidate], shuffle: Shuffle) -> list[_Subject]:
    """Return the pairs of dialogues, left and right; those of the same two strata are one stratum."""
    pairs = [
        (candidates[left], candidates[right])
        for left, right in pair([Dialogue(each.stratum, each.exchanges) for each in candidates], shuffle)
    ]
    strata: dict[frozenset[str], str] = {}
    return [
        _Subject(
            (left.conversation_id, right.conversation_id),
            strata.setdefault(frozenset((left.stratum, right.stratum)), str(len(strata))),
        )
        for left, right in pairs
    ]


def _packages(
    members: Sequence[_Subject], lengths: Sequence[int | None], block: int, shuffle: Shuffle
) -> list[AllocatedPackage]:
    """Make a block's packages: in each, lengths rotate by one more over its members."""
    rotations = _rotations(len(members), len(lengths), block, shuffle)
    packages = []
    for more in range(len(lengths)):
        items = [
            Item(member.conversations, lengths[(rotation + more) % len(lengths)])
            for member, rotation in zip(members, rotations, strict=True)
        ]
        packages.append(AllocatedPackage(block, tuple(shuffle(f"items/{block}/{more}", items))))
    return packages


def _rotations(count: int, lengths: int, block: int, shuffle: Shuffle) -> list[int]:
    """Return where each member's lengths begin: in turn, so that strata get all of them alike.

    Where `count` is no multiple, some lengths have a member less. The members sit on a circle of slots with those slots
    left empty, and begin at a drawn one: each member is as likely as any other to be where one is missing. Otherwise
    the first stratum would always have the length that more members have.
    """
    rounds = -(-count // lengths)
    missing = rounds * lengths - count
    empty = {shuffle.number(f"empty/{block}/{each}", rounds) * lengths + each for each in range(missing)}
    slots = [slot for slot in range(rounds * lengths) if slot not in empty]
    return [slot % lengths for slot in shuffle.rotate(f"circle/{block}", slots)]
