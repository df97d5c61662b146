"""What all built-in bots share: their names, their one method and their one error."""

from enum import StrEnum
from typing import Protocol

from spotthebot.bots.domain.dialogue import Context
from spotthebot.kit.errors import Invalid


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
    """A built-in bot; its reply is never blank and depends on nothing but seed and context."""

    def reply(self, context: Context) -> str: ...


class CorpusIsNeeded(Invalid):
    """The built-in bot '{model}' learns from dialogues and was given none that it can learn from."""
