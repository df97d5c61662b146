"""What conversations begin with, the personas of chats, and the dialogues of people that are mixed in."""

from collections.abc import Iterator
from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import Discriminator, Field, Tag, model_validator

from spotthebot.contracts.wire import Split, Wire, Words

_OPENING_UTTERANCES = {"first_utterance": 1, "first_exchange": 2, "first_two_utterances": 2}


class OpeningSettings(Wire):
    """How conversations begin: the settings that a request and a file both have."""

    split: Split = Field(default="openings", description="Split of the corpus.")
    take: Annotated[
        Annotated[Literal["first_utterance", "first_exchange", "first_two_utterances"], Tag("a name")]
        | Annotated[int, Field(ge=1, le=20), Tag("a number")],
        Discriminator(lambda take: "a number" if isinstance(take, int) else "a name"),
    ] = Field(default="first_exchange", description="What of a dialogue to take, or a number of utterances.")
    first_words: Words | None = Field(
        default=None, description="The first turn of every conversation, in place of a corpus; side B has said it."
    )
    personas: bool = Field(
        default=False,
        description="Whether each bot is given the persona of the speaker whose place it takes in the dialogue. "
        "Only dialogues with personas are drawn; annotators never see a persona.",
    )
    shown: bool = Field(default=False, description="Whether annotators see the opening.")

    @property
    def utterances(self) -> int:
        """Return how many utterances each conversation begins with, before its bots speak."""
        if self.first_words is not None:
            return 1
        return self.take if isinstance(self.take, int) else _OPENING_UTTERANCES[self.take]


def opening_faults(opening: OpeningSettings, corpus: object | None) -> Iterator[tuple[str | None, str]]:
    """Yield each fault of an opening: the key of a value that contradicts another one, if it is one, and the reason.

    `corpus` is an id in a request, or a name in a file.
    """
    if (corpus is None) == (opening.first_words is None):
        yield None, "conversations open with a corpus or with first_words: name one of them"
    if opening.first_words is not None and opening.personas:
        yield "personas", "first_words have no personas: draw openings of a corpus that has them"


class Opening(OpeningSettings):
    """How conversations begin: with utterances of people from a corpus, each used once before any is used again.

    Or all begin with the same first words (Sato et al. 2022, section 5).
    """

    corpus_id: UUID | None = Field(default=None, description="Null with first_words.")

    @model_validator(mode="after")
    def _values_go_together(self) -> Self:
        for _, fault in opening_faults(self, self.corpus_id):
            raise ValueError(fault)
        return self


class PersonaPoolSettings(Wire):
    """Where the personas of chats come from: the settings that a request and a file both have."""

    split: Split = Field(default="openings", description="Split of the corpus.")


class PersonaPool(PersonaPoolSettings):
    """A corpus that has personas. Each conversation of a person with a bot is given a dialogue's two, drawn by lot."""

    corpus_id: UUID


class HumanPoolSettings(Wire):
    """Which dialogues of people are added to a collection: the settings that a request and a file both have."""

    split: Split = Field(default="openings", description="Split of the corpus.")
    conversations: int = Field(ge=1, le=100_000, description="How many to mix in.")


class HumanPool(HumanPoolSettings):
    """Dialogues of a corpus that become human-human conversations.

    Only dialogues as long as the bots' conversations are drawn.
    """

    corpus_id: UUID
