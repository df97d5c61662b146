"""Registered bots: their protocols, limits, versions and statuses."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, NewType
from uuid import UUID

from pydantic import ConfigDict, Field, JsonValue, SecretStr, StringConstraints

from spotthebot.contracts.bots.probes import ProbeReport
from spotthebot.contracts.bots.protocols import Protocol
from spotthebot.contracts.names import BotName
from spotthebot.contracts.wire import Domain, Text, Wire

BotId = NewType("BotId", UUID)


class BotStatus(StrEnum):
    """The status of a bot."""

    PROBING = "probing"
    """Waits for the probe of its current version."""
    ACTIVE = "active"
    """Answers requests."""
    FAILING = "failing"
    """Failed repeatedly: it gets only probes until one of them succeeds (its circuit is open)."""
    SUSPENDED = "suspended"
    """Gets no requests until its owner activates it."""
    RETIRED = "retired"
    """Gets no more requests; its conversations stay."""


_Description = Annotated[Text, StringConstraints(max_length=2000)]
_Domains = Annotated[tuple[Domain, ...], Field(min_length=1, max_length=20)]
_Public = Annotated[
    bool, Field(description="Whether other teams see its name in results of campaigns that both take part in.")
]
_Secret = Annotated[SecretStr, Field(min_length=1, max_length=4000)]


class Limits(Wire):
    """Limits on the requests to a bot."""

    concurrency: int = Field(default=32, ge=1, le=1024, description="Questions at the same time.")
    requests_per_minute: int | None = Field(default=None, ge=1, le=1_000_000, description="Null: as many as come.")
    timeout_seconds: float = Field(default=30.0, ge=0.1, le=300, description="For one reply, with its retries.")
    longest_reply_characters: int = Field(default=2000, ge=1, le=20_000)


_EXAMPLES: list[JsonValue] = [
    {
        "name": "my-bot",
        "description": "Our second attempt.",
        "domains": ["everyday"],
        "protocol": {"kind": "webhook", "url": "https://bot.example.org/reply"},
        "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    },
    {
        "name": "llama",
        "domains": ["everyday"],
        "protocol": {
            "kind": "openai",
            "base_url": "https://llm.example.org/v1",
            "model": "llama-3.1-8b-instruct",
            "system_prompt": "You chat about everyday life in short sentences.",
            "temperature": 0.8,
            "max_tokens": 60,
        },
        "secret": "sk-...",
    },
    {
        "name": "blender",
        "domains": ["everyday"],
        "protocol": {"kind": "parlai", "url": "http://parlai.example.org:8080"},
        "limits": {"concurrency": 1},
    },
    {
        "name": "hosted-gpt",
        "domains": ["everyday"],
        "protocol": {"kind": "triton", "model": "gpt", "sampling": {"temperature": 0.9, "top_p": 0.9}},
    },
    {
        "name": "dialogpt",
        "domains": ["everyday"],
        "protocol": {"kind": "transformers", "model": "microsoft/DialoGPT-small"},
    },
    {"name": "eliza", "domains": ["everyday"], "protocol": {"kind": "builtin", "model": "eliza"}},
]


class BotVersionIn(Wire):
    """The next version of a registered bot."""

    protocol: Protocol = Field(description="How the bot is asked for replies.")
    secret: _Secret | None = Field(
        default=None,
        description=(
            "Kept encrypted, never given back. Webhook: the signing secret `whsec_...` (Standard Webhooks, base64 of "
            "24 to 64 bytes); openai: the API key."
        ),
    )


class BotIn(BotVersionIn):
    """A bot to register."""

    model_config = ConfigDict(json_schema_extra={"examples": _EXAMPLES})

    name: BotName = Field(description="Unique among the bots of its team.")
    description: _Description = ""
    domains: _Domains = Field(description="What it can talk about.")
    limits: Limits = Limits()
    public: _Public = False


class BotChangesIn(Wire):
    """Changes that need no new version, since they affect no reply."""

    description: _Description | None = None
    domains: _Domains | None = None
    limits: Limits | None = None
    public: _Public | None = None
    status: Annotated[BotStatus, Field(description="active (ends a suspension), suspended or retired.")] | None = None


class SecretIn(Wire):
    """A new secret that replaces the current version's old one."""

    secret: _Secret


class BotOut(Wire):
    """A registered bot, with its current version."""

    id: UUID
    name: str
    team: str | None = Field(description="The team that owns it; null for the operator's own.")
    description: str
    domains: tuple[str, ...] = Field(max_length=20)
    limits: Limits
    public: _Public
    status: BotStatus
    status_reason: str | None = Field(description="Why the bot is failing, or its probe is put off; null for neither.")
    paused_until: datetime | None = Field(
        description="Its server wants no request before (`Retry-After`); null if it may be asked."
    )
    version: int = Field(description="Counts from 1; the bot's replies change with it, and only with it.")
    protocol: Protocol
    has_secret: bool
    configuration_sha256: str = Field(description="Hash of everything that decides this version's replies.")
    created_at: datetime
    probe: ProbeReport | None = Field(description="The latest full probe; null before the first.")


class BotVersionOut(Wire):
    """One version of a bot; it never changes."""

    number: int
    protocol: Protocol
    has_secret: bool
    training_sha256: str | None = Field(description="Hash of the dialogues that a built-in bot learned from.")
    files_sha256: str | None = Field(description="Hash of a hosted model's files.")
    configuration_sha256: str
    created_at: datetime
