"""Judges that know one number about a side: the probability that it is a person."""

from collections.abc import Sequence
from typing import Protocol

from spotthebot.contracts.annotation.annotations import Label
from spotthebot.contracts.annotation.judges import MissingReason
from spotthebot.contracts.turns import Turn
from spotthebot.judges.opinions import Asked, Opinion, Opinions, Seen


class HumanProbabilities(Protocol):
    """Returns P(human) of a side from the turns shown, or None where it can't say."""

    def of_side(self, turns: Sequence[Turn], side: str) -> float | None: ...


def asks_who_is_human(asked: Asked) -> bool:
    """Return whether a question is about a side, and its options are those of `Label`."""
    return asked.target in {"A", "B"} and {Label.HUMAN, Label.BOT} <= set(asked.options)


class SideLabeller:
    """Answers only who is a person: each question about a side whose options are those of `Label`."""

    def __init__(self, probabilities: HumanProbabilities, why_not: str) -> None:
        self._probabilities = probabilities
        self._why_not = why_not

    async def ask(self, seen: Seen, asked: Sequence[Asked]) -> Opinions:
        return Opinions([self._opinion(seen, each) for each in asked])

    def _opinion(self, seen: Seen, asked: Asked) -> Opinion:
        if asked.target is None or not asks_who_is_human(asked):
            return Opinion.lacking(MissingReason.UNSUITED, "The judge says only who is a person.")
        human = self._probabilities.of_side(seen.turns, asked.target)
        if human is None:
            return Opinion.lacking(MissingReason.UNSUITED, self._why_not)
        rest = dict.fromkeys(asked.options, 0.0)
        return Opinion(rest | {Label.HUMAN.value: human, Label.BOT.value: 1 - human})
