"""Conversations: their participants and their turns."""

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints, model_validator

from spotthebot.contracts.batches import MAX_BATCH_SIZE
from spotthebot.contracts.names import HUMAN_NAME, fault_of_bot_name
from spotthebot.contracts.turns import MAX_TURNS, Turn
from spotthebot.contracts.wire import ExternalId, Name, Text, Utterance, Wire

Personas = Annotated[
    tuple[Utterance, Utterance],
    Field(description="Who A and B were to be; an empty text: anyone."),
]


class ParticipantKind(StrEnum):
    """The kind of a participant."""

    BOT = "bot"
    HUMAN = "human"


class Participant(Wire):
    """One side of a conversation."""

    kind: ParticipantKind
    name: Name = Field(description="What results call it; all humans are HU.")
    bot_id: UUID | None = Field(default=None, description="The registered bot; null for people and imported bots.")
    version: int | None = Field(
        default=None, ge=1, lt=2**31, description="The version of the bot that speaks throughout."
    )
    configuration_sha256: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")] | None = Field(
        default=None, description="Hash of all that decides what this version answers, a hosted model's files included."
    )
    system: Annotated[Text, StringConstraints(max_length=500)] | None = Field(
        default=None, description="What the source called the system, where it was imported."
    )

    def fault_of_name(self) -> str | None:
        """Return why results can't use the participant's name; None if they can.

        A stored participant may have a name that a new request could not have.
        """
        if self.kind is ParticipantKind.HUMAN:
            return None
        fault = fault_of_bot_name(self.name)
        return None if fault is None else f"the bot {self.name!a}: {fault}"

    @model_validator(mode="after")
    def _humans_are_hu(self) -> "Participant":
        if (self.kind is ParticipantKind.HUMAN) != (self.name == HUMAN_NAME):
            message = f"a human must be called {HUMAN_NAME}, and a bot must not"
            raise ValueError(message)
        return self


class ConversationIn(Wire):
    """A conversation that was held elsewhere."""

    external_id: ExternalId = Field(description="Unique in the collection: uploading it again changes nothing.")
    participants: tuple[Participant, Participant]
    personas: Personas | None = None
    turns: tuple[Turn, ...] = Field(min_length=1, max_length=MAX_TURNS, fail_fast=True)

    @model_validator(mode="after")
    def _names_are_readable(self) -> "ConversationIn":
        for side in self.participants:
            if (fault := side.fault_of_name()) is not None:
                raise ValueError(fault)
        return self

    @model_validator(mode="after")
    def _speakers_alternate(self) -> "ConversationIn":
        if any(before.speaker == after.speaker for before, after in zip(self.turns, self.turns[1:], strict=False)):
            message = "speakers must alternate"
            raise ValueError(message)
        if self.turns[0].speaker != "A":
            message = "the first participant, A, speaks first"
            raise ValueError(message)
        return self


class ConversationBatchIn(Wire):
    """Conversations to add to an import collection."""

    conversations: tuple[ConversationIn, ...] = Field(min_length=1, max_length=MAX_BATCH_SIZE)


class ConversationState(StrEnum):
    """The state of a conversation."""

    RUNNING = "running"
    COMPLETE = "complete"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Ending(StrEnum):
    """The reason why a complete conversation ended."""

    EXCHANGES = "exchanges"
    """It has all planned exchanges."""
    FAREWELL = "farewell"
    REPEATED = "repeated"
    EMPTY = "empty"
    PERSON = "person"
    """The person moved on to the next bot."""


class TextsOut(Wire):
    """The texts of a conversation, without its participants. Annotators may see only the texts."""

    id: UUID
    external_id: str | None
    state: ConversationState
    opening: tuple[Turn, ...] = Field(max_length=MAX_TURNS)
    opening_shown: bool = Field(description="Whether annotators see the opening.")
    turns: tuple[Turn, ...] = Field(max_length=MAX_TURNS)


class SpeakersOut(Wire):
    """The participants of a conversation, without its texts. Statistics join them with annotations."""

    id: UUID
    state: "ConversationState"
    participants: tuple["Participant", "Participant"]


class LatenciesOut(Wire):
    """How long each turn of a conversation took its speaker, without the texts."""

    id: UUID
    latencies_ms: tuple[float | None, ...] = Field(
        max_length=MAX_TURNS, description="Of each turn after the opening; null where no time was taken."
    )


class StratumOut(Wire):
    """A label of a conversation.

    Conversations of the same two speakers have equal labels, which name neither speaker.
    """

    id: UUID
    stratum: str


class TextHashOut(Wire):
    """A hash of the text of a conversation that a campaign shows.

    Conversations with the same words have equal hashes.
    """

    id: UUID
    text_hash: str | None = Field(description="Null for a conversation without words.")


class InteractorOut(Wire):
    """A salted hash of the person who chatted in a conversation, or of random bytes if no person did."""

    id: UUID
    salt: str = Field(description="In hexadecimal; one for the whole answer, and another one for the next.")
    interactor_sha256: str = Field(description="SHA-256 over the salt and the interactor's id in UTF-8.")


class NeighboursOut(Wire):
    """The conversations before and after a conversation in a list, for readers who page through it."""

    previous: UUID | None = Field(description="Null: none before, or none among the texts that one request searches.")
    next: UUID | None = Field(description="Null: none after, or none among the texts that one request searches.")


class ConversationOut(Wire):
    """A conversation with its turns so far; `opening` holds the utterances of people before the first turn."""

    id: UUID
    collection_id: UUID
    external_id: str | None
    state: ConversationState
    ended_by: Ending | None = Field(description="Null where it is not complete.")
    failure: str | None = Field(description="Why it failed, or waits.")
    participants: tuple[Participant, Participant]
    personas: Personas | None = Field(description="Null: nobody was given one. The partner's is kept from a team.")
    opening: tuple[Turn, ...] = Field(max_length=MAX_TURNS)
    opening_shown: bool = Field(description="Whether annotators see the opening.")
    turns: tuple[Turn, ...] = Field(max_length=MAX_TURNS)
