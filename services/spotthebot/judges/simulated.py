"""The simulated judge: a simulated annotator whose answers get probabilities, for trials. Always called simulated."""

from collections.abc import Sequence
from typing import Final

from spotthebot.bots.builtin_bots.domain.chance import chance_of
from spotthebot.contracts.annotation.judges import MissingReason, SimulatedJudge
from spotthebot.judges.opinions import Asked, Opinion, Opinions, Seen
from spotthebot.simulation.annotator import SimulatedAnnotator
from spotthebot.simulation.answers import ShownItem, answer_steps

_SURE: Final = 0.8
"""The probability of the option that the rule takes; the others share the rest."""


class SimulatedLabeller:
    """Answers as a simulated annotator does. The same seed and texts give the same answers."""

    def __init__(self, settings: SimulatedJudge, annotator: SimulatedAnnotator) -> None:
        self._settings = settings
        self._annotator = annotator

    async def ask(self, seen: Seen, asked: Sequence[Asked]) -> Opinions:
        shown = ShownItem(seen.turns, seen.right_turns)
        *_, (answer, _) = answer_steps(self._annotator, seen.protocol, shown, {})
        return Opinions([self._opinion(seen, each, answer.get(each.question.id)) for each in asked])

    def _opinion(self, seen: Seen, asked: Asked, given: object) -> Opinion:
        value = given.get(asked.target) if isinstance(given, dict) else given
        texts = tuple((turn.speaker, turn.text) for turn in seen.turns)
        chance = chance_of(self._settings.seed, asked.question.id, asked.target, texts)
        if value is None or chance.random() < self._settings.missing_share:
            return Opinion.lacking(MissingReason.UNSUITED, "A simulated judge withholds this answer.")
        taken = {str(each) for each in (value if isinstance(value, list) else [value])}
        if asked.takes_several:
            return Opinion({name: _SURE if name in taken else 1 - _SURE for name in asked.options})
        rest = (1 - _SURE) / (len(asked.options) - 1) if len(asked.options) > 1 else 0.0
        sure = _SURE if rest else 1.0
        return Opinion({name: sure if name in taken else rest for name in asked.options})
