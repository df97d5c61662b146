"""The interface of all protocols: one context in, one text out."""

from abc import ABC, abstractmethod

from spotthebot.bots.questions.domain.dialogue import Context
from spotthebot.bots.questions.domain.replies import Said


class Speaker(ABC):
    """Speaks one protocol with one bot. It sets no time limit: its caller cancels it."""

    @abstractmethod
    async def ask(self, context: Context, key: str) -> Said:
        """Return the bot's text unchanged; raises Fault. A repeated question has the same key.

        Any other exception is the bot's failure all the same: `BotClient` makes a Fault of it.
        """

    async def close(self) -> None:
        """Close open connections."""
        return
