"""Requests for replies."""

from enum import StrEnum
from typing import Literal
from uuid import UUID

from pydantic import Field

from spotthebot.contracts.wire import Domain, Utterance, Wire

MAX_CONTEXTS = 256
"""Contexts that one request for replies may hold."""
MAX_REPLIES_BYTES = 8 * 1024 * 1024
"""Bytes that one request for replies may hold: a context of 400 turns of 20,000 letters."""


class ContextIn(Wire):
    """A conversation so far, in which the bot speaks next."""

    turns: tuple[Utterance, ...] = Field(
        max_length=1000, fail_fast=True, description="Texts, oldest first; may be empty."
    )
    seed: int = Field(default=0, ge=0, lt=2**63, description="Same context, same seed: same reply, if the bot can.")
    conversation_id: UUID | None = Field(
        default=None, description="Makes a repeated question recognisable: the bot gets it under the same key."
    )
    speaker: Literal["A", "B"] | None = Field(
        default=None, description="Whose turn it is; left out: A after an even number of turns."
    )
    domain: Domain | None = None
    persona: Utterance | None = Field(default=None, description="Who the bot is to be.")


class RepliesIn(Wire):
    """One to many contexts for one bot."""

    contexts: tuple[ContextIn, ...] = Field(min_length=1, max_length=MAX_CONTEXTS)
    version: int | None = Field(
        default=None, ge=1, lt=2**31, description="Which version of the bot; left out: the present one."
    )


class ReplyFailure(StrEnum):
    """The reason for a missing reply."""

    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    HTTP_ERROR = "http_error"
    EMPTY = "empty"
    TOO_LONG = "too_long"
    INVALID = "invalid"
    RATE_LIMITED = "rate_limited"
    CIRCUIT_OPEN = "circuit_open"


class ReplyNote(StrEnum):
    """What a bot's answer was, beside its reply."""

    REASONING = "reasoning"
    """It held reasoning, such as `<think>...</think>`."""
    ROLE = "role"
    """A role stood before the reply, such as `Assistant:`."""
    PARTNERS_TURN = "partners_turn"
    """It went on with turns that the bot made up for its partner."""
    CUT = "cut"
    """It was cut at the longest reply of the bot's server (`finish_reason` is `length`)."""


class ReplyOut(Wire):
    """The reply to one context, or the reason for its absence."""

    text: str | None
    failure: ReplyFailure | None
    detail: str | None = Field(description="The failure in words; null for a reply.")
    attempts: int = Field(description="Requests to the bot; 0 if it got none.")
    latency_ms: float = Field(description="From the first request to the reply, retries included.")
    notes: tuple[ReplyNote, ...] = Field(
        default=(), max_length=len(ReplyNote), description="What the answer was, beside its reply; see `cleaning`."
    )
    retry_after_seconds: float | None = Field(
        default=None, description="After how long the bot's server wants to be asked again; null if it did not say."
    )


class RepliesOut(Wire):
    """One result for each context, in order."""

    bot_id: UUID
    version: int
    configuration_sha256: str
    replies: tuple[ReplyOut, ...] = Field(max_length=MAX_CONTEXTS)
