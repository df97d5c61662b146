"""Mixes: the conversations that a campaign takes from one or several collections.

A conversation that stands in several collections is taken once. Of human-human conversations a campaign can ask for a
share. Bots of one name in several collections have to be one bot, as results call bots by their names.

The service `annotation` spreads strata over packages, must not show people their own chats, and must never learn who
speaks or who is a bot. So labels of strata are random and drawn for each answer: they tell apart which conversations
have the same two speakers, and can be joined with nothing, not even with another answer's labels. And for each
conversation `annotation` gets a hash of who chatted, with a salt that is drawn for each answer; where nobody chatted
the hash is of random bytes, and nothing tells such a conversation from a chat with somebody whose id is not known.
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
    """What is asked for: different collections, in order, of which conversations of `exchanges` or more are shown.

    `human_share` of those are human-human conversations, drawn by `seed`; None: all that there are.
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
    """Who speaks in the conversations of a pair: one object for all of them, of which there may be half a million."""

    names: frozenset[str]
    is_by_people: bool

    @classmethod
    def of(cls, sides: Sides) -> "MixedPair":
        """Return what a mix has to know of a pair."""
        names = frozenset(side.name for side in sides)
        return cls(names, is_by_people=all(side.kind is ParticipantKind.HUMAN for side in sides))


@dataclass(frozen=True, slots=True)
class Mixed:
    """A complete conversation that a mix could select; those with equal `words` and speakers are one.

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
    """How many conversations a mix selects and leaves out, and the ids of those that are `left_out` of it."""

    long_enough: int
    too_short: int
    repeated: int
    not_drawn: int
    left_out: frozenset[UUID]


def select(conversations: Sequence[Mixed], mix: Mix) -> Selection:
    """Select the conversations of a mix; they come in the order of its collections, and of their plans.

    Of conversations that stand in several collections the first that is long enough is selected. The same
    conversations and seed give the same draw; ids decide nothing. `human_share` is met as nearly as whole conversations
    allow, with one at least.

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
    """Return the conversations that another collection has as well; those of one collection are never repeated."""
    first: dict[tuple[frozenset[str], bytes], UUID] = {}
    repeated = set()
    for each in sorted(conversations, key=lambda each: each.exchanges < exchanges):
        key = (each.pair.names, each.words)
        if first.setdefault(key, each.collection_id) != each.collection_id:
            repeated.add(each.id)
    return frozenset(repeated)


def _check_openings(conversations: Sequence[Mixed]) -> None:
    """Check that all collections show openings of the same lengths.

    In one collection a shown opening is as long for people as for bots. In two that differ, the number of turns could
    tell which collection a conversation is from, and that could tell who speaks.
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
    """Check that a name stands for one text in all collections, as files call conversations by their names."""
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
    """Check who speaks in collections, given with their names in order: a name is one bot's in all of them.

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
    """Say whether two bots of one name answer alike; imported bots may have nothing but their name."""
    if one.configuration_sha256 and other.configuration_sha256:
        return one.configuration_sha256 == other.configuration_sha256
    return (one.bot_id, one.version, one.system) == (other.bot_id, other.version, other.system)


def _version(bot: Participant) -> str:
    if bot.bot_id is None:
        return f"imported{f' as {bot.system}' if bot.system else ''}"
    return f"version {bot.version or 'unknown'} of the bot {bot.bot_id}"


_LABEL_BYTES = 8


class Strata:
    """Labels drawn for one answer; the order in which two speak makes no difference."""

    def __init__(self) -> None:
        self._labels: dict[frozenset[str], str] = defaultdict(lambda: secrets.token_hex(_LABEL_BYTES))

    def label(self, speakers: Speakers) -> str:
        return self._labels[frozenset(side.name for side in speakers.participants)]


_SALT_BYTES = 32


class Interactors:
    """Hashes for one answer: SHA-256 over the answer's salt and the interactor's id in UTF-8."""

    def __init__(self) -> None:
        self.salt = secrets.token_bytes(_SALT_BYTES)

    def sha256(self, interactor: str | None) -> str:
        """Return the hash of a person who chatted, or of nobody, in hexadecimal."""
        hashed = secrets.token_bytes(_SALT_BYTES) if interactor is None else interactor.encode()
        return hashlib.sha256(self.salt + hashed).hexdigest()
