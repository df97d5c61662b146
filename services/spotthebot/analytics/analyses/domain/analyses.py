"""Analyses that run as step jobs. Their states are defined in `kit.step_jobs.lifecycle`."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from spotthebot.contracts.analytics.analyses import AnalysisIn, AnalysisState, Plan, Stability
from spotthebot.contracts.analytics.provenance import Counts
from spotthebot.contracts.analytics.rating_plans import RatingPlan


@dataclass(frozen=True)
class AnalysisJob:
    """An analysis. `done` of its `steps` results are stored. One of the three results is set once it is complete."""

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
    rating_plan: RatingPlan | None
