"""Analyses that run as step jobs, whose states are those of `kit.step_jobs.lifecycle`."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from spotthebot.contracts.analytics.analyses import AnalysisIn, AnalysisState, Plan, Stability
from spotthebot.contracts.analytics.provenance import Counts


@dataclass(frozen=True)
class AnalysisJob:
    """An analysis with `done` of `steps` stored; its result, `stability` or `plan`, is there once it is complete."""

    id: UUID
    request: AnalysisIn
    campaign_id: UUID | None
    state: AnalysisState
    failure: str | None
    done: int
    steps: int
    counts: Counts | None
    data_sha256: str | None
    version: str
    created_at: datetime
    finished_at: datetime | None
    stability: Stability | None
    plan: Plan | None
