"""What a probe of a bot found."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import Field

from spotthebot.contracts.wire import Wire


class Verdict(StrEnum):
    """How one check came out."""

    PASSED = "passed"
    NOTED = "noted"
    """Nothing wrong; something to know."""
    WARNED = "warned"
    """The bot can take part; results may suffer."""
    FAILED = "failed"
    """The bot can't take part."""
    SKIPPED = "skipped"
    """Not tried, and why."""


class ProbeTrigger(StrEnum):
    """Why a probe was made."""

    REGISTRATION = "registration"
    REQUEST = "request"
    HEARTBEAT = "heartbeat"


class Finding(Wire):
    """What one check found, and what to do about it."""

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
    """All findings of one probe; it passed where nothing failed."""

    passed: bool
    findings: tuple[Finding, ...]
    latency: Latency | None = Field(description="Null where no question was answered.")
    deterministic: bool | None = Field(description="Whether equal questions got equal replies; null: not tried.")
    questions: int = Field(description="How many questions the bot was asked.")
    seconds: float


class ProbeOut(Wire):
    """A probe that was made."""

    id: UUID
    bot_id: UUID
    version: int
    trigger: ProbeTrigger
    started_at: datetime
    report: ProbeReport
