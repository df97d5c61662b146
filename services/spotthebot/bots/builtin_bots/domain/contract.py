"""The names of the built-in bots, and the protocol that each built-in bot implements."""

from enum import StrEnum
from typing import Protocol

from spotthebot.bots.questions.domain.dialogue import Context


class BuiltinModel(StrEnum):
    """The built-in bots, the most human-like first."""

    RETRIEVAL = "retrieval"
    NGRAM = "ngram"
    ELIZA = "eliza"
    STRAY = "stray"
    PARROT = "parrot"
    DULL = "dull"

    @property
    def learns(self) -> bool:
        """Whether this bot needs a corpus to learn from."""
        return self in {BuiltinModel.RETRIEVAL, BuiltinModel.NGRAM, BuiltinModel.STRAY}


class BuiltinBot(Protocol):
    """A built-in bot. Its reply is never blank, and depends only on its seed and the context."""

    def reply(self, context: Context) -> str: ...
