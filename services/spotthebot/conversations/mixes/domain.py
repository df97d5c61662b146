"""Mixes: the conversations that a campaign takes from one or several collections.

A conversation in several collections is taken once. A campaign can ask for a share of human-human conversations. Bots
with the same name in several collections must be one bot, because results identify bots by name.

The service `annotation` spreads strata over packages and must not show people their own chats. `annotation` must never
learn who speaks or who is a bot. So labels of strata are random, and each answer has new labels. Labels tell only which
conversations of this answer have the same two speakers. For each conversation `annotation` also gets a hash of the
person who chatted, with a salt drawn for each answer. Without a person the hash is of random bytes, which look like a
chat with an unknown person.
"""

import hashlib
import random
import secrets
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from spotthebot.contracts.conversations.conversations import Participant, ParticipantKind
from spotthebot.conversations.collections.domain import Sides, check_looks
from spotthebot.conversations.conversations.domain import Speakers
from spotthebot.conversations.mixes.errors import BotsDiffer, HumanShareUnreachable, NamedAlike, OpeningsDiffer


@dataclass(frozen=True)
class Mix:
    """A request for a mix: different collections, in order; conversations need at least `exchanges` exchanges.

    `human_share` is the share of human-human conversations, drawn by `seed`; None selects all conversations.
    """

    collections: tuple[UUID, ...]
    exchanges: int
    human_share: float | None
    seed: int

    @property
    def selects_all(self) -> bool:
        """Whether every conversation is selected."""
        return len(self.collections) == 1 and self.human_share is None


@dataclass(frozen=True)
class MixedPair:
    """The speakers of a pair's conversations. Up to half a million conversations share one object."""

    names: frozenset[str]
    is_by_people: bool

    @classmethod
    def of(cls, sides: Sides) -> "MixedPair":
        """Return the fields of a pair that a mix needs."""
        names = frozenset(side.name for side in sides)
        return cls(names, is_by_people=all(side.kind is ParticipantKind.HUMAN for side in sides))


@dataclass(frozen=True, slots=True)
class Mixed:
    """A complete conversation that a mix could select. Equal `words` and speakers mean the same conversation.

    `shown_opening` counts the turns of the opening that annotators see.
    """

    id: UUID
    collection_id: UUID
    external_id: str | None
    pair: MixedPair
    exchanges: int
    words: bytes
    shown_opening: int


@dataclass(frozen=True)
class Selection:
    """The numbers of conversations that a mix selects and leaves out, and the ids of those left out."""

    long_enough: int
    too_short: int
    repeated: int
    not_drawn: int
    left_out: frozenset[UUID]


def select(conversations: Sequence[Mixed], mix: Mix) -> Selection:
    """Select the conversations of a mix, in the order of its collections and their plans.

    For a conversation in several collections the first copy that is long enough is selected. The same conversations and
    seed give the same draw, whatever the ids. The share of human-human conversations is as close to `human_share` as
    possible, with at least one human-human conversation.

    Raises HumanShareUnreachable, OpeningsDiffer and NamedAlike.
    """
    repeated = _repeated(conversations, mix.exchanges)
    once = [each for each in conversations if each.id not in repeated]
    _check_openings(once)
    _check_names(once)
    long_enough = [each for each in once if each.exchanges >= mix.exchanges]
    not_drawn: frozenset[UUID] = frozenset()
    if mix.human_share is not None:
        not_drawn = _not_drawn(long_enough, mix, mix.human_share)
    return Selection(
        long_enough=len(long_enough) - len(not_drawn),
        too_short=len(once) - len(long_enough),
        repeated=len(repeated),
        not_drawn=len(not_drawn),
        left_out=repeated | not_drawn,
    )


def _repeated(conversations: Sequence[Mixed], exchanges: int) -> frozenset[UUID]:
    """Return the conversations that an earlier collection has as well.

    Equal conversations within a collection are no repeats.
    """
    first: dict[tuple[frozenset[str], bytes], UUID] = {}
    repeated = set()
    for each in sorted(conversations, key=lambda each: each.exchanges < exchanges):
        key = (each.pair.names, each.words)
        if first.setdefault(key, each.collection_id) != each.collection_id:
            repeated.add(each.id)
    return frozenset(repeated)


def _check_openings(conversations: Sequence[Mixed]) -> None:
    """Raise OpeningsDiffer unless all collections show openings of the same lengths.

    In one collection, shown openings are equally long for people and bots. If the openings of two collections had
    different lengths, the number of turns could reveal the collection, and so who speaks.
    """
    lengths: dict[UUID, set[int]] = defaultdict(set)
    for each in conversations:
        lengths[each.collection_id].add(each.shown_opening)
    first, *others = lengths.values() or [set()]
    for other in others:
        if other != first:
            one, two = (" or ".join(map(str, sorted(each))) for each in (first, other))
            raise OpeningsDiffer(one=one, other=two)


def _check_names(conversations: Iterable[Mixed]) -> None:
    """Raise NamedAlike if one name belongs to different texts. Files refer to conversations by their names."""
    named: dict[str, bytes] = {}
    for each in conversations:
        name = each.external_id or str(each.id)
        if named.setdefault(name, each.words) != each.words:
            raise NamedAlike(name=name)


def _not_drawn(conversations: Sequence[Mixed], mix: Mix, human_share: float) -> frozenset[UUID]:
    """Return the human-human conversations that are not drawn."""
    by_people = [each.id for each in conversations if each.pair.is_by_people]
    others = len(conversations) - len(by_people)
    needed = round(others * human_share / (1 - human_share))
    if human_share and others:
        needed = max(1, needed)
    if needed > len(by_people):
        raise HumanShareUnreachable(available=len(by_people), exchanges=mix.exchanges, share=human_share, needed=needed)
    chance = random.Random(f"human_share/{mix.seed}")  # noqa: S311 - reproducible draws, no secrets
    return frozenset(by_people).difference(chance.sample(by_people, needed))


def check_bots(speakers: Iterable[tuple[str, Participant]]) -> None:
    """Check that each name belongs to the same bot in all collections; speakers are in the order of collections.

    Raises BotsDiffer and NamesLookAlike. Bots of one collection are not compared with each other.
    """
    known: dict[str, dict[str, list[Participant]]] = defaultdict(dict)
    speakers = list(speakers)
    of_first = {bot.name for collection, bot in speakers if collection == speakers[0][0]}
    check_looks(sorted({bot.name for _, bot in speakers} - of_first), sorted(of_first))
    for collection, bot in speakers:
        in_others = [(other, found) for other, found in known[bot.name].items() if other != collection]
        for other, found in in_others:
            if not any(_is_same_bot(bot, each) for each in found):
                raise BotsDiffer(
                    name=bot.name, one=other, other=collection, first=_version(found[0]), second=_version(bot)
                )
        known[bot.name].setdefault(collection, []).append(bot)


def _is_same_bot(one: Participant, other: Participant) -> bool:
    """Return whether two bots of the same name give the same replies. An imported bot may have nothing but a name."""
    if one.configuration_sha256 and other.configuration_sha256:
        return one.configuration_sha256 == other.configuration_sha256
    return (one.bot_id, one.version, one.system) == (other.bot_id, other.version, other.system)


def _version(bot: Participant) -> str:
    if bot.bot_id is None:
        return f"imported{f' as {bot.system}' if bot.system else ''}"
    return f"version {bot.version or 'unknown'} of the bot {bot.bot_id}"


_LABEL_BYTES = 8


class Strata:
    """Random labels of strata, drawn for one answer; the order of the two speakers does not matter."""

    def __init__(self) -> None:
        self._labels: dict[frozenset[str], str] = defaultdict(lambda: secrets.token_hex(_LABEL_BYTES))

    def label(self, speakers: Speakers) -> str:
        return self._labels[frozenset(side.name for side in speakers.participants)]


_SALT_BYTES = 32


class Interactors:
    """Hashes of people for one answer: SHA-256 over the answer's salt and a person's id in UTF-8."""

    def __init__(self) -> None:
        self.salt = secrets.token_bytes(_SALT_BYTES)

    def sha256(self, interactor: str | None) -> str:
        """Return the hash of a person who chatted, in hexadecimal; for None, of random bytes."""
        hashed = secrets.token_bytes(_SALT_BYTES) if interactor is None else interactor.encode()
        return hashlib.sha256(self.salt + hashed).hexdigest()
