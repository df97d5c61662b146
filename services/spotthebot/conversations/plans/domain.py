"""Plans: the conversations of a collection, which a seed determines, and its estimated cost.

Plans do not depend on ids, so two runs of one plan differ only in ids. The cost is estimated from the properties of the
bots before the collection begins.
"""

import hashlib
import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spotthebot.contracts.bots.registry import Limits
from spotthebot.contracts.conversations.collections import (
    MAX_CONVERSATIONS,
    AllPlayAllIn,
    BipartiteIn,
    BotWarningOut,
    EstimateOut,
    PlannedIn,
    SelfPlayIn,
)
from spotthebot.contracts.conversations.conversations import Participant, ParticipantKind
from spotthebot.contracts.conversations.openings import HumanPool, Opening
from spotthebot.contracts.names import HUMAN_NAME
from spotthebot.conversations.collections.domain import Sides
from spotthebot.conversations.plans.errors import DialoguesTooShort, NoPersonas, TooFewDialogues, TooManyConversations

HUMANS = (
    Participant(kind=ParticipantKind.HUMAN, name=HUMAN_NAME),
    Participant(kind=ParticipantKind.HUMAN, name=HUMAN_NAME),
)


@dataclass(frozen=True)
class Source:
    """A dialogue of people that a plan draws from: its turns, and the personas of its first and its second speaker."""

    turns: tuple[str, ...]
    personas: tuple[str, str] | None = None

    def personas_after(self, opening: int) -> tuple[str, str] | None:
        """Return the personas of A and B where the first `opening` turns are the opening: A says the next turn."""
        if self.personas is None or opening % 2 == 0:
            return self.personas
        return self.personas[1], self.personas[0]


@dataclass(frozen=True)
class PlannedConversation:
    """A conversation to run, or a human dialogue if it has `turns`; `round` counts the conversations of its pair."""

    participants: Sides
    opening: tuple[str, ...]
    turns: tuple[str, ...]
    seed: int
    round: int
    personas: tuple[str, str] | None = None


@dataclass(frozen=True)
class _Pair:
    """Two participants that talk to each other, and the numbers that their seeds are made from."""

    sides: Sides
    numbers: tuple[int, int]


def count_conversations(plan: PlannedIn, partners: int = 0) -> int:
    """Return the number of conversations in which bots talk; raises TooManyConversations."""
    match plan:
        case SelfPlayIn():
            pairs = len(plan.bots)
        case AllPlayAllIn():
            pairs = len(plan.bots) * (len(plan.bots) - 1) // 2
        case BipartiteIn():
            pairs = len(plan.bots) * partners
    conversations = pairs * plan.conversations_per_pair
    if conversations > MAX_CONVERSATIONS:
        raise TooManyConversations(conversations=conversations, limit=MAX_CONVERSATIONS)
    return conversations


def plan_conversations(
    plan: PlannedIn,
    bots: Sequence[Participant],
    partners: Sequence[Participant],
    openings: Sequence[Source],
    human_dialogues: Sequence[Source],
) -> list[PlannedConversation]:
    """Plan every pair's conversations, then mix in the human dialogues at seeded positions.

    `openings` and `human_dialogues` are the dialogues to draw from, in a stable order. Openings are drawn without
    replacement; after all were used, they are drawn again. A dialogue used as a human conversation becomes an opening
    only if no other dialogue is left. With order `both`, the first bot begins every other conversation of its pair. In
    bipartite-play the plan of a target does not depend on later targets.
    """
    count_conversations(plan, len(partners))
    chance = random.Random(f"plan/{plan.seed}")  # noqa: S311 - reproducible draws, no secrets
    by_people = _choose_human_dialogues(plan, human_dialogues, chance)
    draws = _draw_openings(plan, openings, frozenset(each.turns for each in by_people), chance)
    conversations = []
    for pair in _pairs(plan, bots, partners):
        first, second = pair.sides
        for number in range(plan.conversations_per_pair):
            swapped = plan.order == "both" and number % 2 == 1
            participants = (second, first) if swapped else (first, second)
            seed = _seed(plan.seed, *pair.numbers, number)
            opening = next(draws)
            personas = opening.personas_after(len(opening.turns))
            conversations.append(PlannedConversation(participants, opening.turns, (), seed, number, personas))
    return _mixed(conversations, plan, by_people, chance)


def _pairs(plan: PlannedIn, bots: Sequence[Participant], partners: Sequence[Participant]) -> Iterator[_Pair]:
    numbered = list(enumerate(bots))
    match plan:
        case SelfPlayIn():
            for number, bot in numbered:
                yield _Pair((bot, bot), (number, number))
        case AllPlayAllIn():
            for (first_number, first), (second_number, second) in itertools.combinations(numbered, 2):
                yield _Pair((first, second), (first_number, second_number))
        case BipartiteIn():
            for (number, target), (partner_number, partner) in itertools.product(numbered, enumerate(partners)):
                # Partners count down from -1, so that a pair's number does not depend on the number of targets.
                yield _Pair((target, partner), (number, -1 - partner_number))


def _mixed(
    conversations: list[PlannedConversation],
    plan: PlannedIn,
    by_people: Sequence[Source],
    chance: random.Random,
) -> list[PlannedConversation]:
    start = _turns_before_people(plan)
    for number, source in enumerate(by_people):
        said = source.turns[start : start + 2 * plan.exchanges]
        position = chance.randrange(len(conversations) + 1)
        personas = source.personas_after(start)
        conversations.insert(position, PlannedConversation(HUMANS, source.turns[:start], said, 0, number, personas))
    return conversations


def list_human_dialogues(plan: PlannedIn, humans: HumanPool, dialogues: Sequence[Source]) -> list[Source]:
    """Return the human dialogues that are as long as the bots' conversations; raises TooFewDialogues.

    If human dialogues never appeared at the longest length, annotators could tell people from bots by the length alone.
    """
    turns_needed = _turns_before_people(plan) + 2 * plan.exchanges
    long_enough = [each for each in dialogues if len(each.turns) >= turns_needed]
    if len(long_enough) < humans.conversations:
        raise TooFewDialogues(
            split=humans.split,
            available=len(long_enough),
            turns=turns_needed,
            too_short=len(dialogues) - len(long_enough),
            request=humans.conversations,
        )
    return long_enough


def _turns_before_people(plan: PlannedIn) -> int:
    """Return how many turns of a human dialogue stand in the place of the opening of bots' conversations.

    A shown opening is equally long for people and bots, so that the number of turns reveals nothing. A hidden opening
    consists of whole exchanges, so that side A still begins.
    """
    if plan.opening is None:
        return 0
    return plan.opening.utterances if plan.opening.shown else 2 * -(-plan.opening.utterances // 2)


def _choose_human_dialogues(plan: PlannedIn, dialogues: Sequence[Source], chance: random.Random) -> list[Source]:
    if plan.humans is None:
        return []
    return chance.sample(list_human_dialogues(plan, plan.humans, dialogues), plan.humans.conversations)


def _draw_openings(
    plan: PlannedIn,
    dialogues: Sequence[Source],
    by_people: frozenset[tuple[str, ...]],
    chance: random.Random,
) -> Iterator[Source]:
    if plan.opening is None:
        return itertools.repeat(Source(()))
    if plan.opening.first_words is not None:
        return itertools.repeat(Source((plan.opening.first_words,)))
    usable = list_openings(plan.opening, dialogues)
    pool = [each for each in usable if each.turns not in by_people] or usable
    count = plan.opening.utterances
    cut = [Source(each.turns[:count], each.personas if plan.opening.personas else None) for each in pool]
    return _shuffled_forever(cut, chance.randrange(2**32))


def list_openings(opening: Opening, dialogues: Sequence[Source]) -> list[Source]:
    """Return the dialogues that can open a conversation; raises DialoguesTooShort, NoPersonas."""
    long_enough = [each for each in dialogues if len(each.turns) >= opening.utterances]
    if not long_enough:
        raise DialoguesTooShort(split=opening.split)
    usable = [each for each in long_enough if each.personas or not opening.personas]
    if not usable:
        raise NoPersonas(split=opening.split)
    return usable


def _shuffled_forever(pool: list[Source], seed: int) -> Iterator[Source]:
    chance = random.Random(f"openings/{seed}")  # noqa: S311 - reproducible draws, no secrets
    while True:
        yield from chance.sample(pool, len(pool))


def _seed(*parts: int) -> int:
    digest = hashlib.sha256("/".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


@dataclass(frozen=True)
class Speaker:
    """A bot with its median seconds per reply, if measured, and its limits."""

    name: str
    seconds: float | None
    limits: Limits

    @property
    def seconds_a_turn(self) -> float:
        """The seconds between two replies of this bot if it always gets as many requests as it allows."""
        by_latency = (self.seconds or 0.0) / self.limits.concurrency
        by_pace = 60 / self.limits.requests_per_minute if self.limits.requests_per_minute else 0.0
        return max(by_latency, by_pace)


def estimate(
    bots: Sequence[Speaker],
    partners: Sequence[Speaker],
    *,
    conversations: int,
    by_people: int,
    too_short: int = 0,
    exchanges: int,
    warnings: tuple[BotWarningOut, ...] = (),
) -> EstimateOut:
    """Return the estimate. The time is a lower bound by the busiest bot, and by the length of one conversation.

    Without `partners`, all bots give equally many turns. With partners, the bots give half of the turns and the
    partners the other half.
    """
    turns = 2 * exchanges * conversations
    shares = [(bot, turns / 2 / len(side)) for side in ((bots, partners) if partners else (bots, bots)) for bot in side]
    busy: dict[str, float] = {}
    for bot, share in shares:
        busy[bot.name] = busy.get(bot.name, 0.0) + share * bot.seconds_a_turn
    slowest = max(busy, key=lambda name: busy[name])
    known = all(bot.seconds is not None for bot, _ in shares)
    longest = max((bot.seconds or 0.0) for bot in bots) + max((bot.seconds or 0.0) for bot in partners or bots)
    return EstimateOut(
        conversations=conversations + by_people,
        turns=turns,
        by_people=by_people,
        too_short=too_short,
        seconds=round(max(busy[slowest], exchanges * longest), 3) if known else None,
        slowest_bot=slowest,
        warnings=warnings,
    )
