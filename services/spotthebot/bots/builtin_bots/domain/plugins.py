"""A bot of a plug-in: `reply(turns, seed)` gets the texts so far, oldest first, and returns the next one."""

from spotthebot.bots.questions.domain.dialogue import Context
from spotthebot.contracts.plugins import PluginGroup
from spotthebot.kit.plugins import MARK, find_plugin


class PluginBot:
    """A bot of the group `spotthebot.bots`; `model` is its name behind the mark of plug-ins."""

    def __init__(self, model: str, distribution: str, seed: int) -> None:
        self._plugin = find_plugin(PluginGroup.BOTS, model.removeprefix(MARK), distribution)
        self._reply = self._plugin.function("reply")
        self._seed = seed

    def reply(self, context: Context) -> str:
        """Return the bot's reply; raises PluginFails."""
        text = self._reply([*context.turns], self._seed)
        if not isinstance(text, str):
            raise self._plugin.fails(reason=f"reply returned {type(text).__name__} in place of a text")
        return text
