"""Completed probes of bots."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from spotthebot.contracts.bots.probes import ProbeReport, ProbeTrigger


@dataclass(frozen=True)
class Probe:
    """The report of a probe, with the probed version, the reason for the probe, and its time."""

    id: UUID
    bot_id: UUID
    version: int
    trigger: ProbeTrigger
    started_at: datetime
    report: ProbeReport
