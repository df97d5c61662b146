"""Allocation: which package shows which conversation, at which length and position.

Conversations are dealt into blocks. A block makes one package for each length: each of its packages has every
conversation of the block, at a different length in each package. So no package shows a conversation twice, and an
annotator who may see a conversation once can take one package of every block.

All draws mix a secret with the seed. The owner can repeat them. Annotators can't recover the order of the collection's
plan, which tells who is a bot. Spot The Bot packs segments this way (Deriu et al. 2020, section 3.1), with one
difference. Spot The Bot also shows conversations that are too short for the longest length, at the shorter lengths.
Annotators could then know that a conversation is human, because it never appears at the longest length. So such
conversations are left out here.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from spotthebot.annotation.packages.domain.pairs import Dialogue, pair, pair_by_person
from spotthebot.annotation.packages.domain.shuffle import Shuffle
from spotthebot.annotation.packages.errors import NothingToAnnotate, TooFewUnits
from spotthebot.annotation.protocols.domain.questions import Unit
from spotthebot.contracts.annotation.campaign_settings import Pairs
from spotthebot.kit.errors import FieldError


@dataclass(frozen=True)
class Candidate:
    """A conversation that a campaign could show. Conversations of one `stratum` share their two unnamed speakers.

    Conversations in which the same person chatted have the same `person`, a hash that nobody else has.
    """

    conversation_id: UUID
    exchanges: int
    stratum: str
    person: bytes | None = None


@dataclass(frozen=True)
class Item:
    """The conversations that are annotated together, up to a number of exchanges, or whole."""

    conversations: tuple[UUID, ...]
    exchanges: int | None


@dataclass(frozen=True)
class AllocatedPackage:
    """A package's items in the order in which they are shown; packages of one block show the same conversations.

    One more annotator gets a package that is `annotated_twice` than any other package.
    """

    block: int
    items: tuple[Item, ...]
    annotated_twice: bool = False


@dataclass(frozen=True)
class Allocation:
    """All packages in the order of giving out, and how many conversations were left out.

    `too_short` counts conversations with fewer exchanges than the longest length. `unpaired` counts dialogues
    that were to be compared in pairs and found no partner.
    """

    packages: tuple[AllocatedPackage, ...]
    blocks: int
    too_short: int
    unpaired: int

    @property
    def conversations(self) -> frozenset[UUID]:
        """The conversations that are shown, each at every length."""
        return frozenset(each for package in self.packages for item in package.items for each in item.conversations)


def allocate(
    candidates: Sequence[Candidate],
    unit: Unit,
    *,
    package_size: int,
    pairs: Pairs = "any",
    units_twice: int | None = None,
    secret: bytes,
    seed: int,
) -> Allocation:
    """Allocate conversations to packages of at most `package_size` items.

    The same conversations in the same order, secret (up to 64 bytes) and seed give the same packages, whatever the ids
    and the names of strata. A conversation is shown at every length, or not at all if it is too short for the longest
    length.

    Counts differ by at most one: items between packages, items of one stratum between packages, and items of one length
    within a package. Over a block, each stratum appears equally often at each length.

    With `pairs: same_person`, each pair is two dialogues of one person, and dialogues without a partner are left out.

    `units_twice` is the number of conversations or pairs that are drawn. They have packages of their own, which are
    annotated twice. The counts above then hold within these packages and within the others. The same share of each
    stratum is drawn, to within one unit.

    Raises NothingToAnnotate if every conversation is too short, TooFewToCompare or NoPersonTwice if no pairs can be
    made, and TooFewUnits if `units_twice` is more than there are.
    """
    shuffle = Shuffle(secret, seed)
    needed = max(unit.lengths, default=1)
    long_enough = [each for each in candidates if each.exchanges >= needed]
    too_short = len(candidates) - len(long_enough)
    if not long_enough:
        raise NothingToAnnotate(exchanges=needed, too_short=too_short)
    if unit.dialogues == 2:
        subjects = _pairs(long_enough, pairs, shuffle)
    else:
        subjects = [_Subject((each.conversation_id,), each.stratum) for each in long_enough]
    unpaired = len(long_enough) - unit.dialogues * len(subjects)
    require_units(len(subjects), units_twice, unit)
    others, drawn = _drawn(_strata_in_turn(subjects, shuffle), units_twice or 0, shuffle)
    once = _dealt(others, package_size)
    blocks = [*once, *_dealt(drawn, package_size)]
    packages = [
        AllocatedPackage(block, items, annotated_twice=block >= len(once))
        for block, members in enumerate(blocks)
        for items in _items(members, unit.lengths or (None,), block, shuffle)
    ]
    return Allocation(tuple(shuffle("packages", packages)), len(blocks), too_short, unpaired)


def require_units(units: int, units_twice: int | None, unit: Unit) -> None:
    """Raise TooFewUnits if `units_twice` is more than the number of units: dialogues, or pairs of dialogues."""
    if units_twice is not None and units_twice > units:
        called = "pairs of dialogues" if unit.dialogues == 2 else "dialogues"
        fault = FieldError("/units_twice", f"must be at most {units}: there are no more {called} to annotate")
        raise TooFewUnits(units_twice=units_twice, units=units, called=called, fields=(fault,))


@dataclass(frozen=True)
class _Subject:
    conversations: tuple[UUID, ...]
    stratum: str


def _strata_in_turn(subjects: Sequence[_Subject], shuffle: Shuffle) -> list[_Subject]:
    """Shuffle each stratum and concatenate the strata, so that dealing to blocks in turn spreads each stratum evenly.

    Strata keep the order of their first appearance. Strata of one bot stay together, which spreads bots evenly, too.
    """
    by_stratum: dict[str, list[_Subject]] = defaultdict(list)
    for subject in subjects:
        by_stratum[subject.stratum].append(subject)
    strata = [shuffle(f"stratum/{number}", members) for number, members in enumerate(by_stratum.values())]
    return [subject for members in shuffle.rotate("strata", strata) for subject in members]


def _drawn(ordered: Sequence[_Subject], count: int, shuffle: Shuffle) -> tuple[list[_Subject], list[_Subject]]:
    """Return the subjects that are not drawn, and the `count` subjects that are drawn, both in their order.

    Systematic sampling: of subjects in a row, every (n / count)-th is drawn, from a drawn start. So all subjects are
    equally likely to be drawn, and of any m in a row m * count / n are drawn, rounded up or down.
    """
    start = shuffle.number("units twice", len(ordered))
    drawn = {(each * len(ordered) + start) // count for each in range(count)}
    others = [each for at, each in enumerate(ordered) if at not in drawn]
    return others, [each for at, each in enumerate(ordered) if at in drawn]


def _pairs(candidates: Sequence[Candidate], rule: Pairs, shuffle: Shuffle) -> list[_Subject]:
    """Return pairs of a left and a right dialogue; all pairs of the same two strata form one stratum."""
    dialogues = [Dialogue(each.stratum, each.exchanges) for each in candidates]
    if rule == "same_person":
        found = pair_by_person(dialogues, [each.person for each in candidates], shuffle)
    else:
        found = pair(dialogues, shuffle)
    pairs = [(candidates[left], candidates[right]) for left, right in found]
    strata: dict[frozenset[str], str] = {}
    return [
        _Subject(
            (left.conversation_id, right.conversation_id),
            strata.setdefault(frozenset((left.stratum, right.stratum)), str(len(strata))),
        )
        for left, right in pairs
    ]


def _dealt(ordered: Sequence[_Subject], package_size: int) -> list[Sequence[_Subject]]:
    """Deal subjects in turn to as few blocks of at most `package_size` members as there can be."""
    blocks = -(-len(ordered) // package_size)
    return [ordered[block::blocks] for block in range(blocks)]


def _items(
    members: Sequence[_Subject], lengths: Sequence[int | None], block: int, shuffle: Shuffle
) -> Iterator[tuple[Item, ...]]:
    """Yield the items of each package of a block. In each further package, each member has its next length."""
    rotations = _rotations(len(members), len(lengths), block, shuffle)
    for more in range(len(lengths)):
        items = [
            Item(member.conversations, lengths[(rotation + more) % len(lengths)])
            for member, rotation in zip(members, rotations, strict=True)
        ]
        yield tuple(shuffle(f"items/{block}/{more}", items))


def _rotations(count: int, lengths: int, block: int, shuffle: Shuffle) -> list[int]:
    """Return the index of each member's first length, in turn, so that strata get all lengths equally often.

    If `count` is not a multiple of `lengths`, some lengths get one member less. Think of a circle of slots: the slots
    of the missing members are empty, and the first slot is drawn. So every member is equally likely to be next to an
    empty slot. Otherwise the first stratum would always get the more frequent lengths.
    """
    rounds = -(-count // lengths)
    missing = rounds * lengths - count
    empty = {shuffle.number(f"empty/{block}/{each}", rounds) * lengths + each for each in range(missing)}
    slots = [slot for slot in range(rounds * lengths) if slot not in empty]
    return [slot % lengths for slot in shuffle.rotate(f"circle/{block}", slots)]
