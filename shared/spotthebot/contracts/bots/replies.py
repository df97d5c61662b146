"""Requests for replies."""

from enum import StrEnum
from typing import Literal
from uuid import UUID

from pydantic import Field

from spotthebot.contracts.wire import Domain, Utterance, Wire

MAX_CONTEXTS = 256
"""The limit of contexts in one request for replies."""
MAX_REPLIES_BYTES = 8 * 1024 * 1024
"""The limit of bytes in one request for replies: a context of 400 turns of 20,000 letters."""


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
    """A request for one bot's replies to one or more contexts."""

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
    """A fact about a bot's answer, apart from the text of its reply."""

    REASONING = "reasoning"
    """The answer held reasoning, such as `<think>...</think>`."""
    ROLE = "role"
    """A role stood before the reply, such as `Assistant:`."""
    PARTNERS_TURN = "partners_turn"
    """The answer continued with turns that the bot made up for its partner."""
    CUT = "cut"
    """The bot's server cut the answer at its longest reply (`finish_reason` is `length`)."""


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

    @classmethod
    def said(
        cls, text: str, notes: tuple[ReplyNote, ...] = (), *, detail: str | None = None, latency_ms: float = 0.0
    ) -> "ReplyOut":
        """Return the reply with a text that the bot sent.

        If the text turns out to be empty, `detail` says why the server sent no text.
        """
        return cls(text=text, failure=None, detail=detail, attempts=1, latency_ms=latency_ms, notes=notes)

    @classmethod
    def failed(
        cls,
        failure: ReplyFailure,
        detail: str,
        *,
        attempts: int = 0,
        latency_ms: float = 0.0,
        retry_after_seconds: float | None = None,
    ) -> "ReplyOut":
        """Return the failure of a reply, with its detail; `attempts` counts the requests that the bot got."""
        return cls(
            text=None,
            failure=failure,
            detail=detail,
            attempts=attempts,
            latency_ms=latency_ms,
            retry_after_seconds=retry_after_seconds,
        )


class RepliesOut(Wire):
    """One result for each context, in order."""

    bot_id: UUID
    version: int
    configuration_sha256: str
    replies: tuple[ReplyOut, ...] = Field(max_length=MAX_CONTEXTS)
