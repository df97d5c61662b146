"""How many pairs of bots are decided while a campaign runs, and what the nearest open pair needs."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from spotthebot.contracts.analytics.verdicts import PairVerdictOut


class DecidedPairs(NamedTuple):
    """The number of decided pairs, and the open pair that needs the least, by the field that says how much."""

    decided: int
    pairs: int
    nearest: PairVerdictOut | None
    needed: Literal["more_conversations", "more_annotators"]


def decided_pairs(verdicts: Sequence[PairVerdictOut]) -> DecidedPairs:
    """Count the decided pairs; conversations are cheaper than annotators, so a pair that needs them is nearer."""
    decided = sum(each.given is not None for each in verdicts)
    by_conversations = [each for each in verdicts if each.given is None and each.more_conversations is not None]
    by_annotators = [each for each in verdicts if each.given is None and each.more_annotators is not None]
    if by_conversations:
        nearest = min(by_conversations, key=lambda each: each.more_conversations or 0)
        return DecidedPairs(decided, len(verdicts), nearest, "more_conversations")
    nearest_by_people = min(by_annotators, key=lambda each: each.more_annotators or 0, default=None)
    return DecidedPairs(decided, len(verdicts), nearest_by_people, "more_annotators")
