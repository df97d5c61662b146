"""A probe of a bot that was made."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from spotthebot.contracts.bots.probes import ProbeReport, ProbeTrigger


@dataclass(frozen=True)
class Probe:
    """A probe's report, with its version, reason and time."""

    id: UUID
    bot_id: UUID
    version: int
    trigger: ProbeTrigger
    started_at: datetime
    report: ProbeReport
