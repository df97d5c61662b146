"""What all protocols come down to: one context in, one text out."""

from abc import ABC, abstractmethod

from spotthebot.bots.domain.dialogue import Context


class Speaker(ABC):
    """Whoever can be asked. It sets no time limit, and is cancelled where one runs out."""

    @abstractmethod
    async def ask(self, context: Context, key: str) -> str:
        """Return the reply as it came; raises Fault. The same question, asked again, carries the same key."""

    async def close(self) -> None:
        """Let go of what was kept open."""
        return
