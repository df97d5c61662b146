"""A measure of a plug-in: `value(turns, at)` returns a number for the reply at a place, or None where it has none.

`turns` are the texts of a conversation, its opening first. The attributes `question` and `better` ("higher" or
"lower") say what the numbers mean.
"""

import math
from collections.abc import Iterator

from spotthebot.analytics.stats.annotations import HUMAN
from spotthebot.analytics.values.domain.computed_values import ComputedUnit
from spotthebot.contracts.annotation.measures import Measure
from spotthebot.contracts.conversations.conversations import TextsOut
from spotthebot.contracts.plugins import PluginGroup
from spotthebot.kit.plugins import find_plugin

_BETTER = ("higher", "lower")


class PluginMeasure:
    """A measure of the group `spotthebot.measures`, whose question names the distribution; raises PluginFails."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._plugin = find_plugin(PluginGroup.MEASURES, name)
        self._value = self._plugin.function("value")
        self.distribution = self._plugin.distribution
        question, better = self._plugin.part("question"), self._plugin.part("better")
        if not isinstance(question, str) or better not in _BETTER:
            raise self._plugin.fails(reason="it needs a text `question`, and `better`: 'higher' or 'lower'")
        self.measure = Measure(
            measure=name,
            question=f"{question} (plug-in {self.distribution})",
            level="turn",
            kind="scale",
            lowest=None,
            highest=None,
            better=better,
        )

    def units_of(self, texts: TextsOut, speakers: tuple[str, str]) -> list[ComputedUnit]:
        """Return the values of the bots' replies in a conversation; raises PluginFails."""
        return [*self._units(texts, speakers)]

    def _units(self, texts: TextsOut, speakers: tuple[str, str]) -> Iterator[ComputedUnit]:
        said = [turn.text for turn in (*texts.opening, *texts.turns)]
        for turn, spoken in enumerate(texts.turns):
            bot = speakers["AB".index(spoken.speaker)]
            if bot == HUMAN or (value := self._value(said, len(texts.opening) + turn)) is None:
                continue
            if not isinstance(value, int | float) or not math.isfinite(value):
                raise self._plugin.fails(reason=f"value returned {value!r} in place of a number or None")
            yield ComputedUnit(texts.id, bot, str(turn), {self.name: float(value)})
