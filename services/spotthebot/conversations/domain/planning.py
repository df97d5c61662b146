"""Turns the plan of an all-play-all collection into its conversations, the same ones for the same seed.

Nothing here depends on ids, so that two runs of one plan differ in nothing but ids.
"""

import hashlib
import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spotthebot.contracts.conversations import HUMAN_NAME, AllPlayAllIn, Participant, ParticipantKind
from spotthebot.conversations.domain.errors import DialoguesTooShort, TooFewDialogues

_OPENING_TURNS = {"first_utterance": 1, "first_exchange": 2}

HUMANS = (
    Participant(kind=ParticipantKind.HUMAN, name=HUMAN_NAME),
    Participant(kind=ParticipantKind.HUMAN, name=HUMAN_NAME),
)


@dataclass(frozen=True)
class PlannedConversation:
    """A conversation to hold, or, where `turns` are given, one that people held."""

    participants: tuple[Participant, Participant]
    opening: tuple[str, ...]
    turns: tuple[str, ...]
    seed: int


def plan_all_play_all(
    plan: AllPlayAllIn,
    bots: Sequence[Participant],
    openings: Sequence[tuple[str, ...]],
    human_dialogues: Sequence[tuple[str, ...]],
) -> list[PlannedConversation]:
    """Plan every pair's conversations, then mix in the human ones at seeded places.

    `openings` and `human_dialogues` are the dialogues to draw from, in their stable order. Openings are drawn
    without replacement until all were used, then again; dialogues used as human conversations open none, as long
    as others are left. With order `both`, the bot named first begins every other conversation of its pair.
    """
    chance = random.Random(f"plan/{plan.seed}")  # noqa: S311 - reproducible draws, no secrets
    by_people = _choose_human_dialogues(plan, human_dialogues, chance)
    draws = _draw_openings(plan, openings, frozenset(by_people), chance)
    conversations = []
    for (first_index, first), (second_index, second) in itertools.combinations(enumerate(bots), 2):
        for number in range(plan.conversations_per_pair):
            swapped = plan.order == "both" and number % 2 == 1
            participants = (second, first) if swapped else (first, second)
            seed = _seed(plan.seed, first_index, second_index, number)
            conversations.append(PlannedConversation(participants, next(draws), (), seed))
    for turns in by_people:
        start = _turns_before_people(plan)
        said = turns[start : start + 2 * plan.exchanges]
        place = chance.randrange(len(conversations) + 1)
        conversations.insert(place, PlannedConversation(HUMANS, turns[:start], said, 0))
    return conversations


def _turns_before_people(plan: AllPlayAllIn) -> int:
    """Count the turns that judges of a human conversation do not see: whole exchanges, so that A stays A."""
    return 2 if plan.opening and not plan.opening.shown else 0


def _choose_human_dialogues(
    plan: AllPlayAllIn, dialogues: Sequence[tuple[str, ...]], chance: random.Random
) -> list[tuple[str, ...]]:
    if plan.humans is None:
        return []
    long_enough = [turns for turns in dialogues if len(turns) >= _turns_before_people(plan) + 2]
    if len(long_enough) < plan.humans.conversations:
        raise TooFewDialogues(split=plan.humans.split, available=len(long_enough), wanted=plan.humans.conversations)
    return chance.sample(long_enough, plan.humans.conversations)


def _draw_openings(
    plan: AllPlayAllIn,
    dialogues: Sequence[tuple[str, ...]],
    by_people: frozenset[tuple[str, ...]],
    chance: random.Random,
) -> Iterator[tuple[str, ...]]:
    if plan.opening is None:
        return itertools.repeat(())
    count = _OPENING_TURNS[plan.opening.take]
    long_enough = [turns for turns in dialogues if len(turns) >= count]
    if not long_enough:
        raise DialoguesTooShort(split=plan.opening.split)
    pool = [turns for turns in long_enough if turns not in by_people] or long_enough
    return _shuffled_forever([turns[:count] for turns in pool], chance.randrange(2**32))


def _shuffled_forever(pool: list[tuple[str, ...]], seed: int) -> Iterator[tuple[str, ...]]:
    chance = random.Random(f"openings/{seed}")  # noqa: S311 - reproducible draws, no secrets
    while True:
        yield from chance.sample(pool, len(pool))


def _seed(*parts: int) -> int:
    digest = hashlib.sha256("/".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1
