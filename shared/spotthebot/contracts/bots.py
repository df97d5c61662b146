"""Bots and their replies, as the service `bots` speaks of them."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal, NewType
from uuid import UUID

from pydantic import AfterValidator, Field, StringConstraints

from spotthebot.contracts.wire import Domain, Name, Split, Text, Utterance, Wire

BotId = NewType("BotId", UUID)

MOST_CONTEXTS = 256
"""Contexts that one request for replies may hold."""


def _not_the_humans(name: str) -> str:
    if name.upper() == "HU":
        message = "results call people HU: a bot needs another name"
        raise ValueError(message)
    return name


class BuiltinProtocol(Wire):
    """A small bot that runs inside the service `bots`; the learning ones are trained on a corpus when first asked."""

    kind: Literal["builtin"]
    model: Literal["retrieval", "ngram", "eliza", "dull", "parrot", "stray"] = Field(
        description="Which bot: retrieval, ngram and stray learn from a corpus."
    )
    corpus_id: UUID | None = Field(default=None, description="Corpus to learn from.")
    split: Split = Field(default="train", description="Split to learn from.")
    seed: int = Field(default=0, ge=0, lt=2**63, description="Two bots that differ in it answer differently.")


class BotIn(Wire):
    """A bot to register."""

    name: Annotated[Name, AfterValidator(_not_the_humans)] = Field(description="Unique among the bots of its team.")
    description: Annotated[Text, StringConstraints(max_length=2000)] = ""
    domains: tuple[Domain, ...] = Field(min_length=1, max_length=20, description="What it can talk about.")
    protocol: BuiltinProtocol = Field(description="How it is asked for replies.")


class BotOut(Wire):
    """A registered bot. What answers never changes: `configuration_sha256` is what a conversation can point to."""

    id: UUID
    name: str
    team: str | None = Field(description="The team that owns it; null for the operator's own.")
    description: str
    domains: tuple[str, ...]
    protocol: BuiltinProtocol
    configuration_sha256: str
    created_at: datetime


class ContextIn(Wire):
    """A conversation so far, in which the bot speaks next."""

    turns: tuple[Utterance, ...] = Field(max_length=1000, description="Texts, oldest first; may be empty.")
    seed: int = Field(default=0, ge=0, lt=2**63, description="Same context, same seed: same reply, where a bot can.")


class RepliesIn(Wire):
    """One to many contexts for one bot."""

    contexts: tuple[ContextIn, ...] = Field(min_length=1, max_length=MOST_CONTEXTS)


class ReplyFailure(StrEnum):
    """Why there is no reply."""

    EMPTY = "empty"
    TOO_LONG = "too_long"


class ReplyOut(Wire):
    """The reply to one context, or why there is none."""

    text: str | None
    failure: ReplyFailure | None
    latency_ms: float


class RepliesOut(Wire):
    """One result for each context, in order."""

    bot_id: UUID
    configuration_sha256: str
    replies: tuple[ReplyOut, ...]
