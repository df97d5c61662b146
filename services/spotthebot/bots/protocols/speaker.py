"""The interface of all protocols: one context in, one text out."""

from abc import ABC, abstractmethod

from spotthebot.bots.questions.domain.dialogue import Context
from spotthebot.contracts.bots.replies import ReplyOut


class Speaker(ABC):
    """Speaks one protocol with one bot. It sets no time limit: the caller cancels a call that takes too long."""

    @abstractmethod
    async def ask(self, context: Context, key: str) -> ReplyOut:
        """Return the bot's text unchanged (`ReplyOut.said`); raises Fault. A repeated question has the same key.

        `BotClient` turns any other exception into a Fault, too.
        """

    async def close(self) -> None:
        """Close open connections."""
        return


def text_in(answer: object) -> str | None:
    """Return the `text` of a JSON object; None if the object has no such string."""
    text = answer.get("text") if isinstance(answer, dict) else None
    return text if isinstance(text, str) else None
