"""Probes of bots and their findings."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import Field

from spotthebot.contracts.wire import Wire


class Verdict(StrEnum):
    """The result of one check."""

    PASSED = "passed"
    NOTED = "noted"
    """Not a fault, but worth knowing."""
    WARNED = "warned"
    """The bot can take part, but results may suffer."""
    FAILED = "failed"
    """The bot can't take part."""
    SKIPPED = "skipped"
    """Not tried; the detail has the reason."""


class ProbeTrigger(StrEnum):
    """The reason for a probe."""

    REGISTRATION = "registration"
    REQUEST = "request"
    HEARTBEAT = "heartbeat"


class Finding(Wire):
    """The result of one check, with advice."""

    check: str = Field(examples=["keeps_no_state"])
    verdict: Verdict
    detail: str


class Latency(Wire):
    """Milliseconds per reply over `n` replies."""

    n: int
    p50_ms: float
    p95_ms: float
    highest_ms: float


class ProbeReport(Wire):
    """All findings of one probe; it passed if no check failed."""

    passed: bool
    findings: tuple[Finding, ...] = Field(max_length=100)
    latency: Latency | None = Field(description="Null if no question was answered.")
    deterministic: bool | None = Field(description="Whether equal questions got equal replies; null: not tried.")
    questions: int = Field(description="How many questions the bot was asked.")
    seconds: float | None = Field(description="Time that the probe took; null where no bot answers at its URL.")
    put_off: bool = Field(
        default=False, description="The bot's server limits requests: nothing was found out, and a later probe will."
    )


class ProbeOut(Wire):
    """A completed probe."""

    id: UUID
    bot_id: UUID
    version: int
    trigger: ProbeTrigger
    started_at: datetime
    report: ProbeReport
