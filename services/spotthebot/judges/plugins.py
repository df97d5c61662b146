"""A judge of a plug-in: its function `human(turns, side)` returns how likely a side is a person, or None."""

from collections.abc import Sequence

from spotthebot.contracts.annotation.judges import PluginJudge
from spotthebot.contracts.plugins import PluginGroup
from spotthebot.contracts.turns import Turn
from spotthebot.kit.plugins import find_plugin


class PluginSides:
    """Asks a judge of the group `spotthebot.judges`, in the version of its settings."""

    def __init__(self, settings: PluginJudge) -> None:
        self._plugin = find_plugin(PluginGroup.JUDGES, settings.plugin, settings.distribution)
        self._human = self._plugin.function("human")

    def of_side(self, turns: Sequence[Turn], side: str) -> float | None:
        """Return P(human) of a side from pairs of speaker and text; raises PluginFails."""
        found = self._human([(turn.speaker, turn.text) for turn in turns], side)
        if found is not None and not (isinstance(found, int | float) and 0 <= found <= 1):
            raise self._plugin.fails(reason=f"human returned {found!r} in place of a probability or None")
        return found


def with_distribution(settings: PluginJudge) -> PluginJudge:
    """Return settings with the installed distribution; raises NoSuchPlugin and PluginFails."""
    found = find_plugin(PluginGroup.JUDGES, settings.plugin, settings.distribution)
    return settings.model_copy(update={"distribution": found.distribution})
